#include <tessera/cli/table_writer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace tessera {

namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

/// The main blocks of Unicode's EastAsianWidth W and F (https://www.unicode.org/reports/tr11).
constexpr std::array<Range, 15> wide_ranges{{{0x1100, 0x115F},
                                             {0x231A, 0x231B},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0x33FF},
                                             {0x3400, 0x4DBF},
                                             {0x4E00, 0x9FFF},
                                             {0xA000, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0xFFE0, 0xFFE6},
                                             {0x1F300, 0x1F64F},
                                             {0x1F900, 0x1F9FF},
                                             {0x20000, 0x3FFFD}}};

/// Combining marks, joiners and variation selectors.
constexpr std::array<Range, 8> zero_ranges{{{0x0300, 0x036F},
                                            {0x0483, 0x0489},
                                            {0x0591, 0x05BD},
                                            {0x064B, 0x065F},
                                            {0x200B, 0x200F},
                                            {0x20D0, 0x20F0},
                                            {0xFE00, 0xFE0F},
                                            {0xFE20, 0xFE2F}}};

template <std::size_t Count>
bool contains(const std::array<Range, Count>& ranges, std::uint32_t character) {
    const auto after =
        std::upper_bound(ranges.begin(), ranges.end(), character,
                         [](std::uint32_t value, const Range& range) { return value < range.first; });
    return after != ranges.begin() && character <= std::prev(after)->last;
}

/// Takes the first character off well-formed UTF-8.
std::uint32_t take_character(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t character = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < std::min(length, text.size()); ++i)
        character = character << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
    text.remove_prefix(std::min(length, text.size()));
    return character;
}

} // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const std::uint32_t character = take_character(text);
        if (contains(wide_ranges, character))
            width += 2;
        else if (!contains(zero_ranges, character))
            width += 1;
    }
    return width;
}

} // namespace tessera
