#include "program.hpp"
#include "temporary_folder.hpp"

#include <tessera/base/fd.hpp>

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <tuple>

namespace {

using namespace tessera::llm;
using nlohmann::json;

/// The first 60 lines of the shipped text: the golden figures below are reference/reference.py's on them.
struct ShortText {
    test::TemporaryFolder folder;
    std::string path = folder.file("short.raw");

    ShortText() {
        std::istringstream whole(tessera::read_file((test::data_folder() / "wiki.test.raw").string()));
        std::string text;
        std::string line;
        for (int i = 0; i < 60 && std::getline(whole, line); ++i)
            text += line + "\n";
        tessera::write_file_atomically(path, text);
    }

    json evaluate(const std::vector<std::string>& more) const { return test::evaluate_shipped(path, more); }
};

constexpr double tolerance = 1e-5;

} // namespace

TEST_CASE("perplexity by both definitions is that of the float64 reference") {
    const ShortText text;
    const json study = text.evaluate({"--definition", "study"});
    CHECK(study["perplexity"].get<double>() == doctest::Approx(105.5355439388334).epsilon(tolerance));
    CHECK(study["nll_sum"].get<double>() == doctest::Approx(40473.14828679314).epsilon(tolerance));
    CHECK(study["tokens"] == 8704);
    CHECK(study["windows"] == 17);
    CHECK(study["predicted"] == 8687);
    CHECK(study["definition"] == "study");
    CHECK(study["arithmetic"] == "real");
    CHECK(study["model_bytes"] == 1'040'128);
    CHECK(study["tokenizer_sha256"] == "fec6aa960a1fb3ebf71d26f9b0e486afcbd76c34cf0fbfb93e21126ca9f778d3");

    const json gptq = text.evaluate({"--definition", "gptq"});
    CHECK(gptq["perplexity"].get<double>() == doctest::Approx(103.79389584618399).epsilon(tolerance));
    CHECK(gptq["tokens"] == 8823);

    const json narrow = text.evaluate({"--definition", "gptq", "--context", "128"});
    CHECK(narrow["windows"] == 68);
    CHECK(narrow["perplexity"].get<double>() == doctest::Approx(101.81319490149696).epsilon(tolerance));
}

TEST_CASE("quantized perplexity is that of the float64 reference") {
    const ShortText text;
    for (const auto& [precision, group, perplexity] : {std::tuple{"int8", "128", 103.638861746033},
                                                       {"int4", "128", 122.82958342842953},
                                                       {"int3", "128", 317.7683566901168},
                                                       {"int2", "128", 10147.977545351538},
                                                       {"int4", "32", 126.00158459775675}}) {
        const std::string which = std::string(precision) + " in groups of " + group;
        CAPTURE(which);
        const json report =
            text.evaluate({"--definition", "gptq", "--precision", precision, "--group-size", group});
        CHECK(report["perplexity"].get<double>() == doctest::Approx(perplexity).epsilon(1e-4));
        CHECK(report["arithmetic"] == "simulated");
    }
}

TEST_CASE("bf16 comes near fp32 and halves the bytes") {
    const ShortText text;
    const json report = text.evaluate({"--definition", "gptq", "--precision", "bf16"});
    CHECK(report["perplexity"].get<double>() == doctest::Approx(103.79389584618399).epsilon(0.01));
    CHECK(report["model_bytes"] == 520'064);
    CHECK(report["compression_ratio"] == 2.0);
}

TEST_CASE(
    "batch and threads change neither the figure nor its digits beyond rounding, and a run repeats exactly") {
    const ShortText text;
    const json once = text.evaluate({"--limit", "7", "--threads", "1"});
    const json again = text.evaluate({"--limit", "7", "--threads", "2"});
    CHECK(once["nll_sum"] == again["nll_sum"]);
    CHECK(again["threads"] == 2);
    const json batched = text.evaluate({"--limit", "7", "--batch", "4", "--threads", "1"});
    CHECK(batched["nll_sum"].get<double>() == doctest::Approx(once["nll_sum"].get<double>()).epsilon(1e-6));
    CHECK(once["windows"] == 7);
}

TEST_CASE("metrics go to the file that TESSERA_METRICS names") {
    const ShortText text;
    const std::string metrics = text.folder.file("metrics.jsonl");
    tessera::write_file_atomically(metrics, "{\"metric\": \"earlier\", \"value\": 1}\n");
    const auto outcome =
        test::run_program({"evaluate", "--model", (test::data_folder() / "stories260K-hf").string(), "--data",
                           text.path, "--limit", "2", "--format", "json"},
                          {"TESSERA_METRICS=" + metrics});
    REQUIRE(outcome.exit_code == 0);
    std::istringstream lines(tessera::read_file(metrics));
    std::map<std::string, json> by_name;
    for (std::string line; std::getline(lines, line);) {
        const json metric = json::parse(line);
        by_name[metric["metric"].get<std::string>()] = metric;
    }
    CHECK(by_name.contains("earlier"));
    CHECK(by_name.at("perplexity")["value"] == outcome.json()["perplexity"]);
    CHECK(by_name.at("perplexity")["direction"] == "lower");
    CHECK(by_name.at("tokens_per_s")["direction"] == "higher");
    CHECK(by_name.at("model_bytes")["unit"] == "B");
    CHECK(by_name.at("definition")["text"] == "study");
}
