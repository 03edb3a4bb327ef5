#include <tessera/llama/attention.hpp>
#include <tessera/llama/llama.hpp>

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <algorithm>
#include <utility>

namespace tessera::llm {
namespace {

/// Logits held at once while scoring, in elements: a vocabulary of 128,000 for a long window would fill the
/// memory.
constexpr std::int64_t max_logits = std::int64_t{1} << 26;

/// Appends the new keys (or values) and returns all so far.
at::Tensor extend(at::Tensor& store, const at::Tensor& fresh, std::int64_t length) {
    store.narrow(2, length, fresh.size(2)).copy_(fresh);
    return store.narrow(2, 0, length + fresh.size(2));
}

} // namespace

Llama::Llama(ModelConfig config, LlamaWeights weights, std::int64_t positions)
    : config_(std::move(config))
    , weights_(std::move(weights))
    , rope_(make_rope_tables(config_, positions, weights_.embedding.options())) {}

KvCache Llama::make_cache(std::int64_t batch, std::int64_t capacity) const {
    KvCache cache;
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
        const std::vector<std::int64_t> shape{batch, config_.kv_heads, capacity, config_.head_dim};
        cache.keys.push_back(at::empty(shape, weights_.embedding.options()));
        cache.values.push_back(at::empty(shape, weights_.embedding.options()));
    }
    return cache;
}

at::Tensor Llama::hidden_states(const at::Tensor& tokens, KvCache* cache) const {
    at::Tensor stream = at::embedding(weights_.embedding, tokens);
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
        const LayerWeights& weights = weights_.layers[static_cast<std::size_t>(layer)];
        stream = stream + attention(layer, normalize(stream, weights.attention_norm), cache);
        stream = stream + mlp(weights, normalize(stream, weights.mlp_norm));
    }
    if (cache != nullptr) cache->length += tokens.size(1);
    return normalize(stream, weights_.final_norm);
}

at::Tensor Llama::logits(const at::Tensor& hidden) const {
    return at::linear(hidden, weights_.head);
}

at::Tensor Llama::attention(std::int64_t layer, const at::Tensor& input, KvCache* cache) const {
    const auto index = static_cast<std::size_t>(layer);
    const LayerWeights& weights = weights_.layers[index];
    const std::int64_t batch = input.size(0);
    const std::int64_t length = input.size(1);
    const std::int64_t past = cache == nullptr ? 0 : cache->length;
    const std::int64_t all_heads = config_.heads + 2 * config_.kv_heads;
    const at::Tensor heads =
        at::linear(input, weights.query_key_value).view({batch, length, all_heads, config_.head_dim});

    // Queries and keys lie side by side and turn together.
    const at::Tensor rotated =
        rotate(heads.narrow(2, 0, config_.heads + config_.kv_heads), rope_, past).transpose(1, 2);
    const at::Tensor query = rotated.narrow(1, 0, config_.heads);
    at::Tensor key = rotated.narrow(1, config_.heads, config_.kv_heads);
    at::Tensor value = heads.narrow(2, config_.heads + config_.kv_heads, config_.kv_heads).transpose(1, 2);
    if (cache != nullptr) {
        key = extend(cache->keys[index], key, past);
        value = extend(cache->values[index], value, past);
    }
    const at::Tensor mixed = causal_attention(query, key, value).transpose(1, 2);
    return at::linear(mixed.reshape({batch, length, config_.query_size()}), weights.attention_output);
}

at::Tensor Llama::mlp(const LayerWeights& weights, const at::Tensor& input) const {
    const at::Tensor both = at::linear(input, weights.gate_up);
    const std::int64_t size = config_.intermediate_size;
    return at::linear(at::silu(both.narrow(2, 0, size)) * both.narrow(2, size, size), weights.down);
}

/// RMSNorm: in fp32, cast back before the gain, as transformers does it.
at::Tensor Llama::normalize(const at::Tensor& input, const at::Tensor& gain) const {
    const at::Tensor wide = input.to(at::kFloat);
    const at::Tensor inverse_rms = at::rsqrt(wide.square().mean(-1, true) + config_.rms_norm_eps);
    return (wide * inverse_rms).to(input.scalar_type()) * gain;
}

std::vector<double> window_nll(const Llama& model, const at::Tensor& windows) {
    const std::int64_t batch = windows.size(0);
    const std::int64_t predicted = windows.size(1) - 1;
    const at::Tensor hidden = model.hidden_states(windows).narrow(1, 0, predicted);
    const at::Tensor rows = hidden.reshape({batch * predicted, hidden.size(2)});
    const at::Tensor targets = windows.narrow(1, 1, predicted).reshape({batch * predicted, 1});

    const std::int64_t rows_at_once = std::max<std::int64_t>(1, max_logits / model.config().vocab_size);
    std::vector<at::Tensor> parts;
    for (std::int64_t begin = 0; begin < rows.size(0); begin += rows_at_once) {
        const std::int64_t count = std::min(rows_at_once, rows.size(0) - begin);
        const at::Tensor logits = model.logits(rows.narrow(0, begin, count)).to(at::kFloat);
        const at::Tensor chosen = logits.gather(1, targets.narrow(0, begin, count)).squeeze(1);
        parts.push_back(at::logsumexp(logits, {1}).to(at::kDouble) - chosen.to(at::kDouble));
    }
    const at::Tensor sums = at::cat(parts).view({batch, predicted}).sum(1).to(at::kCPU);
    const auto* first = sums.data_ptr<double>();
    return {first, first + batch};
}

} // namespace tessera::llm
