#include <tessera/quantization/storage.hpp>

#include <doctest/doctest.h>

#include <tuple>

using namespace tessera::llm;

namespace {

ModelConfig tinyllama() {
    ModelConfig config;
    config.hidden_size = 2048;
    config.intermediate_size = 5632;
    config.layers = 22;
    config.heads = 32;
    config.kv_heads = 4;
    config.head_dim = 64;
    config.vocab_size = 32000;
    return config;
}

} // namespace

TEST_CASE("TinyLlama is counted as the study counts it") {
    const ModelStorage fp32 = model_storage(tinyllama(), parse_precision("fp32"), 128);
    CHECK(fp32.parameters == 1'100'048'384);
    CHECK(fp32.linear_weights == 968'884'224);
    CHECK(fp32.model_bytes == 4ULL * 1'100'048'384);
    CHECK(fp32.compression_ratio() == 1.0);
    CHECK(fp32.effective_bits() == 32.0);

    const ModelStorage int8 = model_storage(tinyllama(), parse_precision("int8"), 128);
    CHECK(int8.effective_bits() == 8.125);
    CHECK(int8.compression_ratio() == doctest::Approx(32.0 / 8.125));
    CHECK(int8.model_bytes == (968'884'224ULL * 65 / 64) + 4ULL * (1'100'048'384 - 968'884'224));
}

TEST_CASE("a short last group costs a whole scale") {
    ModelConfig config = tinyllama();
    config.hidden_size = 64;
    config.intermediate_size = 172;
    config.layers = 5;
    config.heads = 8;
    config.head_dim = 8;
    config.vocab_size = 512;
    config.tied_embeddings = true;
    // Ratios of an independent implementation for the shipped checkpoint.
    for (const auto& [name, group, ratio] : {std::tuple{"int8", 128, 3.886106346483705},
                                             {"int4", 128, 7.557038025350233},
                                             {"int3", 128, 9.893449781659388},
                                             {"int2", 128, 14.321112515802781},
                                             {"int4", 32, 7.088861076345432},
                                             {"int16", 32, 1.9377352035579885}}) {
        const std::string which = name;
        CAPTURE(which);
        CHECK(model_storage(config, parse_precision(name), group).compression_ratio() ==
              doctest::Approx(ratio).epsilon(1e-12));
    }
    CHECK(model_storage(config, parse_precision("bf16"), 128).model_bytes == 2 * 260'032);
}

TEST_CASE("only linear weights inside layers are quantized") {
    CHECK(is_decoder_linear("model.layers.0.self_attn.q_proj.weight"));
    CHECK(is_decoder_linear("model.layers.21.mlp.down_proj.weight"));
    for (const char* name : {"model.layers.0.input_layernorm.weight", "model.embed_tokens.weight",
                             "lm_head.weight", "model.norm.weight"}) {
        CHECK_FALSE(is_decoder_linear(name));
    }
}
