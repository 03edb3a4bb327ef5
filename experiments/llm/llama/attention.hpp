#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::llm {

/// Scaled dot-product attention with grouped keys: `query` is [batch, heads, T, dim], `key` and `value` are
/// [batch, kv_heads, length, dim]; head h reads KV head h / (heads / kv_heads). The T queries are the last of
/// the `length` positions, and each sees itself and what is before it. Result as `query`.
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);

} // namespace tessera::llm
