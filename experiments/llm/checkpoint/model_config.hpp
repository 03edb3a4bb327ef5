#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::llm {

/// How rotary frequencies are stretched for contexts longer than those of the first training.
struct RopeScaling {
    enum class Kind { linear, llama3 };
    Kind kind = Kind::linear;
    double factor = 1.0;
    /// The rest is for llama3 only.
    double low_freq_factor = 1.0;
    double high_freq_factor = 4.0;
    double original_max_positions = 8192.0;
};

/// A Llama model's config.json, as transformers 4 (rope_theta, rope_scaling) or 5 (rope_parameters) writes
/// it.
struct ModelConfig {
    std::int64_t hidden_size = 0;
    std::int64_t intermediate_size = 0;
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t vocab_size = 0;
    std::int64_t max_positions = 0;
    double rms_norm_eps = 1e-6;
    double rope_theta = 10000.0;
    std::optional<RopeScaling> rope_scaling;
    bool tied_embeddings = false;

    std::int64_t query_size() const { return heads * head_dim; }

    std::int64_t kv_size() const { return kv_heads * head_dim; }
};

/// Throws CheckpointError naming `path` for anything that is not a Llama architecture which this program
/// computes exactly: other model types and activations, biases, unknown rotary scaling, already quantized
/// weights.
ModelConfig parse_model_config(std::string_view json, const std::string& path);

} // namespace tessera::llm
