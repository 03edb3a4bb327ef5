#include <tessera/quantization/round_to_nearest.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

using namespace tessera::llm;

namespace {

std::vector<float> rounded(std::vector<float> weights, std::int64_t row, std::int64_t group, int bits) {
    round_to_grid(weights, row, group, IntegerGrid(bits));
    return weights;
}

} // namespace

TEST_CASE("grids are the two's complement ranges") {
    for (const auto& [bits, lowest, highest] : {std::tuple{2, -2.0F, 1.0F},
                                                {3, -4.0F, 3.0F},
                                                {4, -8.0F, 7.0F},
                                                {8, -128.0F, 127.0F},
                                                {16, -32768.0F, 32767.0F}}) {
        CHECK(IntegerGrid(bits).lowest == lowest);
        CHECK(IntegerGrid(bits).highest == highest);
    }
}

TEST_CASE("halves go to the even level and the largest magnitude stays") {
    // Scale 1: the group's largest magnitude is 7 on the grid of 4 bits.
    CHECK(rounded({7.0F, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 0.49F}, 8, 8, 4) ==
          std::vector<float>{7.0F, 0.0F, 2.0F, 2.0F, 0.0F, -2.0F, -2.0F, 0.0F});
}

TEST_CASE("each group has its own scale, the last of a row may be short") {
    // Groups of 2 in rows of 3, 2 bits: the scale is the largest magnitude.
    CHECK(rounded({1.0F, 0.4F, 8.0F, 0.1F, -2.0F, 0.0F}, 3, 2, 2) ==
          std::vector<float>{1.0F, 0.0F, 8.0F, 0.0F, -2.0F, 0.0F});
    CHECK(rounded({0.0F, 0.0F}, 2, 128, 8) == std::vector<float>{0.0F, 0.0F});
    // Below the smallest scale of 1e-8 a weight is lost.
    CHECK(rounded({1e-9F, -1e-9F}, 2, 2, 8) == std::vector<float>{0.0F, 0.0F});
}

TEST_CASE("the error is at most half a step, and rounding again changes nothing") {
    std::mt19937 generator(7);
    std::normal_distribution<float> normal;
    for (const int bits : {2, 3, 4, 8, 16}) {
        CAPTURE(bits);
        std::vector<float> weights(4 * 200);
        for (float& weight : weights)
            weight = normal(generator);
        const std::vector<float> once = rounded(weights, 200, 64, bits);
        for (std::size_t row = 0; row < 4; ++row) {
            for (std::size_t start = 0; start < 200; start += 64) {
                const std::size_t first = row * 200 + start;
                const std::span<const float> group(&weights[first], std::min<std::size_t>(64, 200 - start));
                const float step = group_scale(group, IntegerGrid(bits));
                for (std::size_t i = 0; i < group.size(); ++i) {
                    REQUIRE(std::fabs(once[first + i] - group[i]) <= 0.5001F * step);
                    const double level = std::nearbyint(static_cast<double>(group[i] / step));
                    REQUIRE(once[first + i] == static_cast<float>(level) * step);
                }
            }
        }
    }
}
