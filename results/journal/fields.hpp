#pragma once

#include <tessera/base/wire.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What every payload shares: a field that equals its default is left out, so that small records stay small
/// and a field added later costs nothing.
namespace tessera::fields {

inline void put(WireWriter& out, std::uint32_t tag, std::string_view value) {
    if (!value.empty()) out.bytes_field(tag, value);
}

inline void put(WireWriter& out, std::uint32_t tag, const std::string& value) {
    put(out, tag, std::string_view(value));
}

inline void put(WireWriter& out, std::uint32_t tag, const char* value) = delete;

inline void put(WireWriter& out, std::uint32_t tag, bool value) {
    if (value) out.bool_field(tag, true);
}

inline void put(WireWriter& out, std::uint32_t tag, std::uint32_t value) {
    if (value != 0) out.uint_field(tag, value);
}

inline void put(WireWriter& out, std::uint32_t tag, std::uint64_t value) {
    if (value != 0) out.uint_field(tag, value);
}

inline void put(WireWriter& out, std::uint32_t tag, std::int64_t value) {
    if (value != 0) out.int_field(tag, value);
}

/// Only +0 is left out: -0 and NaN are values.
inline void put(WireWriter& out, std::uint32_t tag, double value) {
    if (std::bit_cast<std::uint64_t>(value) != 0) out.double_field(tag, value);
}

inline void put(WireWriter& out, std::uint32_t tag, const Id128& value) {
    if (!value.is_zero()) out.id_field(tag, value);
}

inline void put(WireWriter& out, std::uint32_t tag, const std::vector<std::string>& values) {
    for (const std::string& value : values)
        out.bytes_field(tag, value);
}

template <typename Enum>
void put_enum(WireWriter& out, std::uint32_t tag, Enum value) {
    put(out, tag, static_cast<std::uint32_t>(value));
}

/// Throws FormatError for a number above `last`, the highest that this version knows.
template <typename Enum>
Enum read_enum(const WireReader& in, Enum last) {
    const std::uint64_t number = in.as_uint();
    if (number > static_cast<std::uint64_t>(last))
        in.fail("a field has a value that this version does not know");
    return static_cast<Enum>(number);
}

inline std::int32_t read_int32(const WireReader& in) {
    const std::int64_t number = in.as_int();
    if (number != static_cast<std::int32_t>(number)) in.fail("a number has more than 32 bits");
    return static_cast<std::int32_t>(number);
}

/// Ids end to end in one field.
void put_ids(WireWriter& out, std::uint32_t tag, const std::vector<Id128>& ids);
std::vector<Id128> read_ids(const WireReader& in);

/// Numbers as the fields with tag 1 of a nested record.
void put_numbers(WireWriter& out, std::uint32_t tag, const std::vector<std::uint32_t>& numbers);
std::vector<std::uint32_t> read_numbers(const WireReader& in);

} // namespace tessera::fields
