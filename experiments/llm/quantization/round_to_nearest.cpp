#include <tessera/quantization/round_to_nearest.hpp>

#include <algorithm>
#include <cmath>

namespace tessera::llm {
namespace {

constexpr float smallest_scale = 1e-8F;

/// Round half to even by the addition's own rounding: exact for |x| < 2^22, and it vectorizes on any x86-64
/// where std::nearbyint is a call. Magnitudes here stay below 2^16.
float round_half_even(float x) {
    constexpr float shift = 0x1.8p23F;
    return (x + shift) - shift;
}

} // namespace

IntegerGrid::IntegerGrid(int bits)
    : lowest(-std::ldexp(1.0F, bits - 1))
    , highest(std::ldexp(1.0F, bits - 1) - 1.0F) {}

float group_scale(std::span<const float> group, const IntegerGrid& grid) {
    float largest = 0.0F;
    for (const float weight : group)
        largest = std::max(largest, std::fabs(weight));
    return std::max(largest / grid.highest, smallest_scale);
}

void round_to_grid(std::span<float> weights, std::int64_t row_size, std::int64_t group_size,
                   const IntegerGrid& grid) {
    const auto row_length = static_cast<std::size_t>(row_size);
    const auto group_length = static_cast<std::size_t>(group_size);
    for (std::size_t row = 0; row < weights.size(); row += row_length) {
        for (std::size_t start = 0; start < row_length; start += group_length) {
            const auto group = weights.subspan(row + start, std::min(group_length, row_length - start));
            const float scale = group_scale(group, grid);
            for (float& weight : group) {
                weight = std::clamp(round_half_even(weight / scale), grid.lowest, grid.highest) * scale;
            }
        }
    }
}

} // namespace tessera::llm
