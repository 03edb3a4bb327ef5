#pragma once

#include <tessera/checkpoint/model_config.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace tessera::llm {

/// Rotary angles' frequencies, one for each pair of a head's dimensions, with the configuration's scaling
/// applied.
std::vector<float> rope_frequencies(const ModelConfig& config);

/// Tables of rotary cosines and sines, [positions, head_dim / 2].
struct RopeTables {
    at::Tensor cosines;
    at::Tensor sines;
};

RopeTables make_rope_tables(const ModelConfig& config, std::int64_t positions,
                            const at::TensorOptions& options);

/// Rotates `heads`, [batch, T, heads, head_dim], whose first row stands at `first_position`. Pairs are (i, i
/// + dim/2), the layout of transformers.
at::Tensor rotate(const at::Tensor& heads, const RopeTables& tables, std::int64_t first_position);

} // namespace tessera::llm
