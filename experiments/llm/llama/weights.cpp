#include <tessera/llama/device.hpp>
#include <tessera/llama/weights.hpp>
#include <tessera/quantization/round_to_nearest.hpp>
#include <tessera/quantization/storage.hpp>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <cstring>
#include <string>

namespace tessera::llm {
namespace {

at::ScalarType stored_type(Dtype dtype) {
    if (dtype == Dtype::f32) return at::kFloat;
    return dtype == Dtype::f16 ? at::kHalf : at::kBFloat16;
}

class Loader {
public:
    Loader(const Checkpoint& checkpoint, const WeightOptions& options)
        : checkpoint_(checkpoint)
        , options_(options)
        , type_(compute_type(options.precision, options.device)) {}

    at::Tensor load(const std::string& name) const {
        const TensorView view = checkpoint_.tensor(name);
        const bool quantize = options_.precision.quantized() && is_decoder_linear(name);
        return (quantize ? quantized(view) : stored(view)).to(options_.device, type_);
    }

    at::Tensor load_stacked(std::initializer_list<std::string> names) const {
        std::vector<at::Tensor> parts;
        for (const std::string& name : names)
            parts.push_back(load(name));
        return at::cat(parts, 0);
    }

private:
    /// A copy, since the mapped bytes are read-only and may be unaligned.
    static at::Tensor stored(const TensorView& view) {
        const at::Tensor copy = at::empty(view.shape, at::TensorOptions(stored_type(view.dtype)));
        std::memcpy(copy.data_ptr(), view.data.data(), view.data.size());
        return copy;
    }

    at::Tensor quantized(const TensorView& view) const {
        const at::Tensor weights = at::empty(view.shape, at::TensorOptions(at::kFloat));
        const std::span<float> values(weights.data_ptr<float>(), static_cast<std::size_t>(view.elements()));
        read_as_float(view, values);
        round_to_grid(values, view.shape.back(), options_.group_size,
                      IntegerGrid(options_.precision.integer_bits));
        return weights;
    }

    const Checkpoint& checkpoint_;
    const WeightOptions& options_;
    at::ScalarType type_;
};

LayerWeights load_layer(const Loader& loader, std::int64_t layer) {
    const std::string prefix = layer_prefix(layer);
    const std::string attention = prefix + "self_attn.";
    LayerWeights weights;
    weights.attention_norm = loader.load(prefix + "input_layernorm.weight");
    weights.query_key_value = loader.load_stacked(
        {attention + "q_proj.weight", attention + "k_proj.weight", attention + "v_proj.weight"});
    weights.attention_output = loader.load(attention + "o_proj.weight");
    weights.mlp_norm = loader.load(prefix + "post_attention_layernorm.weight");
    weights.gate_up = loader.load_stacked({prefix + "mlp.gate_proj.weight", prefix + "mlp.up_proj.weight"});
    weights.down = loader.load(prefix + "mlp.down_proj.weight");
    return weights;
}

} // namespace

LlamaWeights load_weights(const Checkpoint& checkpoint, const WeightOptions& options) {
    const Loader loader(checkpoint, options);
    const ModelConfig& config = checkpoint.config();
    LlamaWeights weights;
    weights.embedding = loader.load("model.embed_tokens.weight");
    for (std::int64_t layer = 0; layer < config.layers; ++layer)
        weights.layers.push_back(load_layer(loader, layer));
    weights.final_norm = loader.load("model.norm.weight");
    weights.head = config.tied_embeddings ? weights.embedding : loader.load("lm_head.weight");
    return weights;
}

} // namespace tessera::llm
