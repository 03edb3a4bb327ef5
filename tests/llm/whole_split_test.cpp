#include "program.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <tuple>

using namespace tessera::llm;
using nlohmann::json;

namespace {

json evaluate(const std::vector<std::string>& more) {
    return test::evaluate_shipped((test::data_folder() / "wiki.test.raw").string(), more);
}

constexpr double tolerance = 1e-4;

} // namespace

// Figures of an independent implementation, confirmed with Hugging Face transformers.

TEST_CASE("the whole test split by gptq") {
    const json report = evaluate({"--definition", "gptq"});
    CHECK(report["perplexity"].get<double>() == doctest::Approx(122.37289583026156).epsilon(tolerance));
    CHECK(report["nll_sum"].get<double>() == doctest::Approx(3908155.079863649).epsilon(tolerance));
    CHECK(report["tokens"] == 815'066);
    CHECK(report["windows"] == 1591);
    CHECK(report["predicted"] == 813'001);
}

TEST_CASE("the whole test split by study") {
    const json report = evaluate({"--definition", "study"});
    CHECK(report["perplexity"].get<double>() == doctest::Approx(124.84160790071836).epsilon(tolerance));
    CHECK(report["windows"] == 1581);
    CHECK(report["predicted"] == 807'891);
}

TEST_CASE("round to nearest on the first 200 blocks") {
    for (const auto& [precision, group, perplexity] : {std::tuple{"int16", "128", 130.0678834473757},
                                                       {"int8", "128", 130.0484926194456},
                                                       {"int6", "128", 129.7235468191636},
                                                       {"int4", "128", 157.9491149557331},
                                                       {"int3", "128", 446.3501968047627},
                                                       {"int2", "128", 11736.709106123559},
                                                       {"int8", "32", 130.1047834006686},
                                                       {"int4", "32", 166.59481666293743},
                                                       {"int2", "32", 7108.130330768514}}) {
        const std::string which = std::string(precision) + " in groups of " + group;
        CAPTURE(which);
        const json report = evaluate({"--limit", "200", "--precision", precision, "--group-size", group});
        CHECK(report["perplexity"].get<double>() == doctest::Approx(perplexity).epsilon(tolerance));
    }
}
