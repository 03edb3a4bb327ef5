#include "program.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

using namespace tessera::llm;
using nlohmann::json;

TEST_CASE("a benchmark reports speeds and latencies that agree with one another") {
    const auto outcome = test::run_program(
        {"benchmark", "--model", (test::data_folder() / "stories260K-hf").string(), "--prompt", "32",
         "--generate", "5", "--batch", "2", "--warmup", "0", "--repetitions", "3", "--precision", "int4",
         "--threads", "1", "--format", "json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const json report = outcome.json();
    for (std::size_t i = 0; i < 3; ++i) {
        const double first_ms = report["ttft_ms_samples"][i];
        const double other_ms = report["tpot_ms_samples"][i];
        CHECK(first_ms > 0);
        CHECK(report["prefill_tokens_per_s_samples"][i].get<double>() ==
              doctest::Approx(2 * 32 / first_ms * 1000));
        CHECK(report["decode_tokens_per_s_samples"][i].get<double>() == doctest::Approx(2 / other_ms * 1000));
    }
    CHECK(report["ttft_ms_samples"].size() == 3);
    CHECK(report["peak_memory_bytes"].get<double>() > 1e6);
    CHECK(report["arithmetic"] == "simulated");
}
