#include <tessera/llama/attention.hpp>
#include <tessera/llama/torch_compat.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/softmax.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tessera::llm {
namespace {

/// Queries handled at once: few enough that most of the masked half of the scores is never computed, enough
/// for products of a good size.
constexpr std::int64_t query_block = 64;

at::Tensor causal_mask(std::int64_t size, const at::TensorOptions& options) {
    return at::full({size, size}, -std::numeric_limits<double>::infinity(), options).triu(1);
}

/// Attention of the queries from `begin` to `end` (of T) to the keys that they may see.
at::Tensor attend_block(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        std::int64_t begin, std::int64_t end) {
    const std::int64_t batch = query.size(0);
    const std::int64_t heads = query.size(1);
    const std::int64_t dim = query.size(3);
    const std::int64_t kv_heads = key.size(1);
    const std::int64_t group = heads / kv_heads;
    const std::int64_t rows = end - begin;
    const std::int64_t visible = key.size(2) - query.size(2) + end;

    const at::Tensor grouped = query.narrow(2, begin, rows).reshape({batch * kv_heads, group * rows, dim});
    const at::Tensor keys = key.narrow(2, 0, visible).reshape({batch * kv_heads, visible, dim});
    const at::Tensor values = value.narrow(2, 0, visible).reshape({batch * kv_heads, visible, dim});
    const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
    const at::Tensor scores = at::bmm(grouped * scale, keys.transpose(1, 2));
    if (rows > 1) {
        scores.view({batch * kv_heads, group, rows, visible})
            .narrow(3, visible - rows, rows)
            .add_(causal_mask(rows, query.options()));
    }
    const at::Tensor weights = at::softmax(scores, -1, at::kFloat).to(query.scalar_type());
    return at::bmm(weights, values).view({batch, heads, rows, dim});
}

/// The KV heads repeated so that head h finds its own at index h.
at::Tensor repeat_heads(const at::Tensor& kv, std::int64_t group) {
    if (group == 1) return kv;
    return kv.unsqueeze(2)
        .expand({kv.size(0), kv.size(1), group, kv.size(2), kv.size(3)})
        .reshape({kv.size(0), kv.size(1) * group, kv.size(2), kv.size(3)});
}

} // namespace

at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
    const std::int64_t length = query.size(2);
    if (query.is_cuda() && length > 1 && length == key.size(2)) {
        const std::int64_t group = query.size(1) / key.size(1);
        const auto fused =
            compat::fused_causal_attention(query, repeat_heads(key, group), repeat_heads(value, group));
        if (fused) return *fused;
    }
    std::vector<at::Tensor> blocks;
    for (std::int64_t begin = 0; begin < length; begin += query_block) {
        blocks.push_back(attend_block(query, key, value, begin, std::min(length, begin + query_block)));
    }
    return blocks.size() == 1 ? blocks.front() : at::cat(blocks, 2);
}

} // namespace tessera::llm
