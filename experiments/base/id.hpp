#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// 128 bits that name a step, a cell, a campaign or a part. Written as 32 lower-case hexadecimal digits.
struct Id128 {
    std::array<std::uint8_t, 16> bytes{};

    auto operator<=>(const Id128&) const = default;

    bool is_zero() const { return *this == Id128{}; }

    std::string hex() const;

    /// The first `digits` hexadecimal digits: enough for a person to name one of some thousands.
    std::string short_hex(std::size_t digits = 10) const { return hex().substr(0, digits); }

    /// Empty unless `text` is exactly 32 hexadecimal digits.
    static std::optional<Id128> parse(std::string_view text);

    /// From the kernel's random source.
    static Id128 random();
};

using StepKey = Id128;
using CellId = Id128;

} // namespace tessera

template <>
struct std::hash<tessera::Id128> {
    std::size_t operator()(const tessera::Id128& id) const noexcept {
        std::size_t value = 0;
        std::memcpy(&value, id.bytes.data(), sizeof value);
        return value;
    }
};
