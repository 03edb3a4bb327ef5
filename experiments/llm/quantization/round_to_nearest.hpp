#pragma once

#include <cstdint>
#include <span>

namespace tessera::llm {

/// The symmetric integer grid of b bits: levels from -2^(b-1) to 2^(b-1)-1, of which a group's largest
/// magnitude takes the top positive one.
struct IntegerGrid {
    explicit IntegerGrid(int bits);

    float lowest;
    float highest;
};

/// The study's scale of a group: max(max|w| / highest, 1e-8).
float group_scale(std::span<const float> group, const IntegerGrid& grid);

/// Replaces each weight by the value that its quantized form stands for: w' = s clamp(round_half_even(w /
/// s)), one scale for each group of `group_size` neighbours in a row of `row_size` weights. The last group of
/// a row may be shorter: the study pads it with zeros, which changes no scale. `weights` holds whole rows.
/// Two-stage study, section 2 of its fake quantizer: symmetric, group-wise along the input dimension, rounded
/// to nearest.
void round_to_grid(std::span<float> weights, std::int64_t row_size, std::int64_t group_size,
                   const IntegerGrid& grid);

} // namespace tessera::llm
