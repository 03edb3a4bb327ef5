#pragma once

#include <tessera/checkpoint/model_config.hpp>
#include <tessera/llama/rope.hpp>
#include <tessera/llama/weights.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace tessera::llm {

/// Keys and values of the positions already seen, [batch, kv_heads, capacity, head_dim] for each layer.
struct KvCache {
    std::vector<at::Tensor> keys;
    std::vector<at::Tensor> values;
    std::int64_t length = 0;
};

/// The Llama forward pass, without gradients. Calls from several threads are safe as long as each has its own
/// cache and holds c10::InferenceMode.
class Llama {
public:
    /// `positions` is the longest sequence that will be asked for.
    Llama(ModelConfig config, LlamaWeights weights, std::int64_t positions);

    /// The final hidden states, [batch, T, hidden], of `tokens`, [batch, T] of int64 on the model's device.
    /// With a cache the tokens follow what it holds, and it grows by them.
    at::Tensor hidden_states(const at::Tensor& tokens, KvCache* cache = nullptr) const;

    /// Logits of hidden states, [..., vocabulary], in the compute type.
    at::Tensor logits(const at::Tensor& hidden) const;

    KvCache make_cache(std::int64_t batch, std::int64_t capacity) const;

    const ModelConfig& config() const { return config_; }

    at::Device device() const { return weights_.embedding.device(); }

private:
    at::Tensor attention(std::int64_t layer, const at::Tensor& input, KvCache* cache) const;
    at::Tensor mlp(const LayerWeights& weights, const at::Tensor& input) const;
    at::Tensor normalize(const at::Tensor& input, const at::Tensor& gain) const;

    ModelConfig config_;
    LlamaWeights weights_;
    RopeTables rope_;
};

/// Sum of the negative log-likelihoods of each window's tokens after its first, in double; `windows` is
/// [batch, T] of int64 on the model's device.
std::vector<double> window_nll(const Llama& model, const at::Tensor& windows);

} // namespace tessera::llm
