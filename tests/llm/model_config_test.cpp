#include "checkpoint_writer.hpp"

#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/checkpoint/model_config.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

using namespace tessera::llm;
using nlohmann::json;

ModelConfig with(const std::string& key, const json& value) {
    json config = json::parse(test::small_config());
    config[key] = value;
    return parse_model_config(config.dump(), "config.json");
}

std::string problem_with(const std::string& key, const json& value) {
    try {
        with(key, value);
    } catch (const CheckpointError& error) {
        return error.problem;
    }
    return "accepted";
}

} // namespace

TEST_CASE("a configuration is read with the defaults of transformers") {
    const ModelConfig config = parse_model_config(test::small_config(), "config.json");
    CHECK(config.hidden_size == 8);
    CHECK(config.head_dim == 4);
    CHECK(config.query_size() == 8);
    CHECK(config.kv_size() == 4);
    CHECK(config.rope_theta == 10000.0);
    CHECK(config.rms_norm_eps == 1e-6);
    CHECK_FALSE(config.tied_embeddings);
    CHECK_FALSE(config.rope_scaling);
    CHECK(with("num_key_value_heads", nullptr).kv_heads == 2);
    CHECK(with("head_dim", 6).query_size() == 12);
}

TEST_CASE("rotary settings of transformers 4 and 5 are read") {
    const json llama3{{"rope_type", "llama3"},
                      {"factor", 8.0},
                      {"low_freq_factor", 1.0},
                      {"high_freq_factor", 4.0},
                      {"original_max_position_embeddings", 8192}};
    const auto old_style = with("rope_scaling", llama3);
    REQUIRE(old_style.rope_scaling);
    CHECK(old_style.rope_scaling->kind == RopeScaling::Kind::llama3);
    CHECK(old_style.rope_scaling->original_max_positions == 8192.0);

    json parameters = llama3;
    parameters["rope_theta"] = 500000.0;
    const auto new_style = with("rope_parameters", parameters);
    CHECK(new_style.rope_theta == 500000.0);
    REQUIRE(new_style.rope_scaling);
    CHECK(new_style.rope_scaling->factor == 8.0);

    const auto linear = with("rope_scaling", {{"type", "linear"}, {"factor", 2.0}});
    REQUIRE(linear.rope_scaling);
    CHECK(linear.rope_scaling->kind == RopeScaling::Kind::linear);
    CHECK_FALSE(with("rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e4}}).rope_scaling);
}

TEST_CASE("what would be computed wrongly is refused") {
    CHECK(problem_with("model_type", "gemma2") == "model_type is 'gemma2', which is not supported");
    CHECK(problem_with("hidden_act", "gelu") != "accepted");
    CHECK(problem_with("attention_bias", true) != "accepted");
    CHECK(problem_with("quantization_config", {{"bits", 4}}) != "accepted");
    CHECK(problem_with("rope_scaling", {{"rope_type", "yarn"}, {"factor", 2.0}}) != "accepted");
    CHECK(problem_with("rope_scaling", {{"rope_type", "linear"}}) == "rope_scaling.factor is missing");
    CHECK(problem_with("num_key_value_heads", 3) != "accepted");
    CHECK(problem_with("head_dim", 5) != "accepted");
    CHECK(problem_with("num_attention_heads", 3) != "accepted");
}

TEST_CASE("values that are no sizes are refused") {
    for (const json& bad : {json(0), json(-1), json(1.5), json("8"), json(1LL << 40), json::array()}) {
        CAPTURE(bad);
        CHECK(problem_with("hidden_size", bad) != "accepted");
        CHECK(problem_with("num_hidden_layers", bad) != "accepted");
    }
    CHECK(problem_with("num_hidden_layers", 1'000'000) != "accepted");
    CHECK(problem_with("hidden_size", nullptr) == "hidden_size is missing");
    CHECK(problem_with("rms_norm_eps", 0) != "accepted");
    CHECK(problem_with("tie_word_embeddings", "yes") != "accepted");
    CHECK_THROWS_AS(parse_model_config("[]", "config.json"), CheckpointError);
    CHECK_THROWS_AS(parse_model_config("{", "config.json"), CheckpointError);
}
