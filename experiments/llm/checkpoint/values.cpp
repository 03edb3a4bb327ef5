#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/checkpoint/values.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace tessera::llm {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is read in place");

template <typename Word>
Word load(const std::byte* data, std::size_t index) {
    Word word;
    std::memcpy(&word, data + index * sizeof(Word), sizeof(Word));
    return word;
}

/// In all three formats a value is NaN or infinite if and only if all bits of its exponent are set. Without a
/// branch in the loop it vectorizes.
template <typename Word>
bool exponents_finite(std::span<const std::byte> data, Word exponent_mask) {
    Word bad = 0;
    for (std::size_t i = 0; i < data.size() / sizeof(Word); ++i) {
        bad |= static_cast<Word>((load<Word>(data.data(), i) & exponent_mask) == exponent_mask);
    }
    return bad == 0;
}

float float_from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// IEEE binary16, subnormal numbers included; NaN and infinity keep their meaning.
float float_from_f16(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13);
    // Read as a float with the narrow exponent, then scaled by 2^(127-15), which is exact for subnormals too.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

} // namespace

bool all_finite(const TensorView& tensor) {
    switch (tensor.dtype) {
    case Dtype::f32:
        return exponents_finite<std::uint32_t>(tensor.data, 0x7F800000U);
    case Dtype::f16:
        return exponents_finite<std::uint16_t>(tensor.data, 0x7C00U);
    case Dtype::bf16:
        return exponents_finite<std::uint16_t>(tensor.data, 0x7F80U);
    default:
        throw std::logic_error("all_finite: not a weight dtype");
    }
}

void read_as_float(const TensorView& tensor, std::span<float> out) {
    const std::byte* data = tensor.data.data();
    switch (tensor.dtype) {
    case Dtype::f32:
        std::memcpy(out.data(), data, out.size_bytes());
        return;
    case Dtype::f16:
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = float_from_f16(load<std::uint16_t>(data, i));
        return;
    case Dtype::bf16:
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = float_from_bf16(load<std::uint16_t>(data, i));
        return;
    default:
        throw std::logic_error("read_as_float: not a weight dtype");
    }
}

} // namespace tessera::llm
