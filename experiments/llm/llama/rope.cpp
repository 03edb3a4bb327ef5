#include <tessera/llama/rope.hpp>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <cmath>
#include <numbers>

namespace tessera::llm {
namespace {

/// Llama 3.1: long wavelengths are stretched by the factor, short ones kept, those between interpolated.
double llama3_frequency(double frequency, const RopeScaling& scaling) {
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    if (wavelength < scaling.original_max_positions / scaling.high_freq_factor) return frequency;
    if (wavelength > scaling.original_max_positions / scaling.low_freq_factor)
        return frequency / scaling.factor;
    const double smooth = (scaling.original_max_positions / wavelength - scaling.low_freq_factor) /
                          (scaling.high_freq_factor - scaling.low_freq_factor);
    return (1.0 - smooth) * frequency / scaling.factor + smooth * frequency;
}

double scaled_frequency(double frequency, const std::optional<RopeScaling>& scaling) {
    if (!scaling) return frequency;
    if (scaling->kind == RopeScaling::Kind::linear) return frequency / scaling->factor;
    return llama3_frequency(frequency, *scaling);
}

} // namespace

std::vector<float> rope_frequencies(const ModelConfig& config) {
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < config.head_dim; i += 2) {
        const double exponent = static_cast<double>(i) / static_cast<double>(config.head_dim);
        const double frequency = std::pow(config.rope_theta, -exponent);
        frequencies.push_back(static_cast<float>(scaled_frequency(frequency, config.rope_scaling)));
    }
    return frequencies;
}

RopeTables make_rope_tables(const ModelConfig& config, std::int64_t positions,
                            const at::TensorOptions& options) {
    const std::vector<float> frequencies = rope_frequencies(config);
    const auto pairs = static_cast<std::int64_t>(frequencies.size());
    const at::Tensor cosines = at::empty({positions, pairs}, at::TensorOptions(at::kFloat));
    const at::Tensor sines = at::empty({positions, pairs}, at::TensorOptions(at::kFloat));
    auto* cosine = cosines.data_ptr<float>();
    auto* sine = sines.data_ptr<float>();
    for (std::int64_t position = 0; position < positions; ++position) {
        for (const float frequency : frequencies) {
            // The angle in fp32, as transformers computes it.
            const float angle = static_cast<float>(position) * frequency;
            *cosine++ = std::cos(angle);
            *sine++ = std::sin(angle);
        }
    }
    return {cosines.to(options), sines.to(options)};
}

at::Tensor rotate(const at::Tensor& heads, const RopeTables& tables, std::int64_t first_position) {
    const std::int64_t length = heads.size(1);
    const std::int64_t half = heads.size(3) / 2;
    const at::Tensor cosines = tables.cosines.narrow(0, first_position, length).unsqueeze(1);
    const at::Tensor sines = tables.sines.narrow(0, first_position, length).unsqueeze(1);
    const at::Tensor low = heads.narrow(3, 0, half);
    const at::Tensor high = heads.narrow(3, half, half);
    return at::cat({low * cosines - high * sines, high * cosines + low * sines}, 3);
}

} // namespace tessera::llm
