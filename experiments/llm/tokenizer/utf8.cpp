#include <tessera/tokenizer/utf8.hpp>

#include <array>
#include <cstdint>

namespace tessera::llm {
namespace {

std::size_t length_from_lead(std::uint8_t lead) {
    if (lead < 0x80U) return 1;
    if (lead >= 0xC2U && lead < 0xE0U) return 2;
    if (lead >= 0xE0U && lead < 0xF0U) return 3;
    if (lead >= 0xF0U && lead < 0xF5U) return 4;
    return 0;
}

} // namespace

std::size_t utf8_length(std::string_view text) {
    if (text.empty()) return 0;
    const auto lead = static_cast<std::uint8_t>(text.front());
    const std::size_t length = length_from_lead(lead);
    if (length == 0 || length > text.size()) return 0;
    std::uint32_t code_point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<std::uint8_t>(text[i]);
        if ((byte & 0xC0U) != 0x80U) return 0;
        code_point = code_point << 6 | (byte & 0x3FU);
    }
    constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code_point >= 0xD800U && code_point < 0xE000U;
    return code_point < smallest[length] || surrogate || code_point > 0x10FFFFU ? 0 : length;
}

} // namespace tessera::llm
