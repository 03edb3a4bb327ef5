#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/checkpoint/json.hpp>
#include <tessera/checkpoint/model_config.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tessera::llm {
namespace {

using nlohmann::json;

const char* const correct_it = "correct the model's config.json or download it again";
const char* const other_model = "use a Llama checkpoint in plain fp32, fp16 or bf16";

/// No real extent comes near; products of two of them stay far from overflow.
constexpr std::int64_t max_extent = 1 << 24;

/// The list of expected tensors grows with the layers; no model comes near.
constexpr std::int64_t max_layers = 4096;

/// Typed access to the keys of one JSON object; `where` is a prefix such as "rope_scaling." for messages.
class Fields {
public:
    Fields(const json& object, std::string path, std::string where)
        : object_(object)
        , path_(std::move(path))
        , where_(std::move(where)) {}

    /// Null counts as absent, as transformers reads it.
    const json* find(const char* key) const {
        const auto found = object_.find(key);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }

    std::int64_t extent(const char* key) const { return to_extent(key, required(key)); }

    std::int64_t extent_or(const char* key, std::int64_t fallback) const {
        const json* value = find(key);
        return value == nullptr ? fallback : to_extent(key, *value);
    }

    double positive(const char* key) const { return to_positive(key, required(key)); }

    double positive_or(const char* key, double fallback) const {
        const json* value = find(key);
        return value == nullptr ? fallback : to_positive(key, *value);
    }

    bool flag_or(const char* key, bool fallback) const {
        const json* value = find(key);
        if (value == nullptr) return fallback;
        if (!value->is_boolean()) fail(key, *value, "not true or false");
        return value->get<bool>();
    }

    std::string text_or(const char* key, const std::string& fallback) const {
        const json* value = find(key);
        if (value == nullptr) return fallback;
        if (!value->is_string()) fail(key, *value, "not a string");
        return value->get<std::string>();
    }

    Fields object(const char* key) const {
        const json* value = find(key);
        if (value == nullptr || !value->is_object()) {
            throw CheckpointError(path_, fmt::format("{}{} is not an object", where_, key), correct_it);
        }
        return {*value, path_, fmt::format("{}{}.", where_, key)};
    }

    [[noreturn]] void unsupported(const char* key, const std::string& value) const {
        throw CheckpointError(path_, fmt::format("{}{} is {}, which is not supported", where_, key, value),
                              other_model);
    }

private:
    const json& required(const char* key) const {
        const json* value = find(key);
        if (value == nullptr)
            throw CheckpointError(path_, fmt::format("{}{} is missing", where_, key), correct_it);
        return *value;
    }

    std::int64_t to_extent(const char* key, const json& value) const {
        const auto number = json_count(value);
        if (!number || *number < 1 || *number > max_extent) {
            fail(key, value, fmt::format("not a whole number from 1 to {}", max_extent));
        }
        return *number;
    }

    double to_positive(const char* key, const json& value) const {
        const double number = value.is_number() ? value.get<double>() : 0.0;
        if (!(number > 0.0) || !std::isfinite(number)) fail(key, value, "not a positive number");
        return number;
    }

    [[noreturn]] void fail(const char* key, const json& value, const std::string& why) const {
        throw CheckpointError(path_, fmt::format("{}{} is {}, {}", where_, key, json_excerpt(value), why),
                              correct_it);
    }

    const json& object_;
    std::string path_;
    std::string where_;
};

std::optional<RopeScaling> read_scaling(const Fields& rope) {
    const std::string type = rope.text_or("rope_type", rope.text_or("type", "default"));
    if (type == "default") return std::nullopt;
    RopeScaling scaling;
    if (type != "linear" && type != "llama3") rope.unsupported("rope_type", "'" + type + "'");
    scaling.factor = rope.positive("factor");
    if (type == "linear") return scaling;
    scaling.kind = RopeScaling::Kind::llama3;
    scaling.low_freq_factor = rope.positive("low_freq_factor");
    scaling.high_freq_factor = rope.positive("high_freq_factor");
    scaling.original_max_positions = rope.positive("original_max_position_embeddings");
    if (scaling.high_freq_factor <= scaling.low_freq_factor) {
        rope.unsupported("high_freq_factor", "not above low_freq_factor");
    }
    return scaling;
}

void read_rope(const Fields& fields, ModelConfig& config) {
    config.rope_theta = fields.positive_or("rope_theta", config.rope_theta);
    if (fields.find("rope_parameters") != nullptr) {
        const Fields rope = fields.object("rope_parameters");
        config.rope_theta = rope.positive_or("rope_theta", config.rope_theta);
        config.rope_scaling = read_scaling(rope);
    } else if (fields.find("rope_scaling") != nullptr) {
        config.rope_scaling = read_scaling(fields.object("rope_scaling"));
    }
}

void refuse_other_architectures(const Fields& fields) {
    const std::string type = fields.text_or("model_type", "absent");
    if (type != "llama") fields.unsupported("model_type", "'" + type + "'");
    const std::string activation = fields.text_or("hidden_act", "silu");
    if (activation != "silu") fields.unsupported("hidden_act", "'" + activation + "'");
    for (const char* key : {"attention_bias", "mlp_bias"}) {
        if (fields.flag_or(key, false)) fields.unsupported(key, "true");
    }
    if (fields.find("quantization_config") != nullptr) fields.unsupported("quantization_config", "present");
}

void check_heads(const Fields& fields, const ModelConfig& config) {
    if (config.heads % config.kv_heads != 0) {
        fields.unsupported("num_key_value_heads",
                           fmt::format("{} for {} heads", config.kv_heads, config.heads));
    }
    if (config.head_dim % 2 != 0)
        fields.unsupported("head_dim", fmt::format("{}, an odd number", config.head_dim));
}

} // namespace

ModelConfig parse_model_config(std::string_view text, const std::string& path) {
    const json root = parse_json_object(text, path, correct_it);
    const Fields fields(root, path, "");
    refuse_other_architectures(fields);

    ModelConfig config;
    config.hidden_size = fields.extent("hidden_size");
    config.intermediate_size = fields.extent("intermediate_size");
    config.layers = fields.extent("num_hidden_layers");
    if (config.layers > max_layers) fields.unsupported("num_hidden_layers", std::to_string(config.layers));
    config.heads = fields.extent("num_attention_heads");
    config.kv_heads = fields.extent_or("num_key_value_heads", config.heads);
    if (fields.find("head_dim") == nullptr && config.hidden_size % config.heads != 0) {
        fields.unsupported("num_attention_heads", fmt::format("{} for hidden_size {} without head_dim",
                                                              config.heads, config.hidden_size));
    }
    config.head_dim = fields.extent_or("head_dim", config.hidden_size / config.heads);
    check_heads(fields, config);
    config.vocab_size = fields.extent("vocab_size");
    config.max_positions = fields.extent_or("max_position_embeddings", 2048);
    config.rms_norm_eps = fields.positive_or("rms_norm_eps", config.rms_norm_eps);
    config.tied_embeddings = fields.flag_or("tie_word_embeddings", false);
    read_rope(fields, config);
    return config;
}

} // namespace tessera::llm
