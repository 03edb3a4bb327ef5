#pragma once

#include <tessera/base/error.hpp>
#include <tessera/base/id.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Tagged fields, the encoding of journal payloads and of messages: each field is a varint (tag << 3 | type)
/// followed by a varint, eight little-endian bytes, or a varint length and bytes, as in Protocol Buffers'
/// wire format (https://protobuf.dev/programming-guides/encoding). Readers skip tags they do not know.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2 };

class WireWriter {
public:
    void uint_field(std::uint32_t tag, std::uint64_t value) {
        key(tag, WireType::varint);
        varint(value);
    }

    /// Signed values are zigzag-coded.
    void int_field(std::uint32_t tag, std::int64_t value) {
        uint_field(tag, (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63));
    }

    void bool_field(std::uint32_t tag, bool value) { uint_field(tag, value ? 1 : 0); }

    void double_field(std::uint32_t tag, double value) {
        key(tag, WireType::fixed64);
        fixed64(std::bit_cast<std::uint64_t>(value));
    }

    void bytes_field(std::uint32_t tag, std::string_view value) {
        key(tag, WireType::bytes);
        varint(value.size());
        out_.append(value);
    }

    void id_field(std::uint32_t tag, const Id128& id) {
        bytes_field(tag, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
    }

    /// A nested record: `fill` writes its fields with a writer of its own.
    template <std::invocable<WireWriter&> Fill>
    void record_field(std::uint32_t tag, Fill&& fill) {
        WireWriter nested;
        fill(nested);
        bytes_field(tag, nested.view());
    }

    std::string_view view() const { return out_; }

    std::string take() { return std::move(out_); }

private:
    void key(std::uint32_t tag, WireType type) {
        varint(static_cast<std::uint64_t>(tag) << 3U | static_cast<std::uint64_t>(type));
    }

    void varint(std::uint64_t value);
    void fixed64(std::uint64_t value);

    std::string out_;
};

/// Reads the fields of one record in order. Every accessor throws FormatError on damaged input or when the
/// field has another type; nothing is read outside the given bytes.
class WireReader {
public:
    /// `source` names the origin in errors and must outlive the reader, as must `bytes`.
    WireReader(std::string_view bytes, std::string_view source)
        : bytes_(bytes)
        , source_(source) {}

    /// Moves to the next field; false at the end. A field whose value was not read is skipped.
    bool next();

    std::uint32_t tag() const { return tag_; }

    WireType type() const { return type_; }

    std::uint64_t as_uint() const;
    std::uint32_t as_uint32() const; ///< throws when the number has more bits
    std::int64_t as_int() const;

    bool as_bool() const { return as_uint() != 0; }

    double as_double() const;
    std::string_view as_bytes() const;

    std::string as_string() const { return std::string(as_bytes()); }

    Id128 as_id() const;

    WireReader as_record() const { return {as_bytes(), source_}; }

    /// Throws FormatError at the current position: for values that the caller finds impossible.
    [[noreturn]] void fail(const char* what) const;

private:
    std::uint64_t varint();

    std::string_view bytes_;
    std::string_view source_;
    std::size_t position_ = 0;
    std::uint32_t tag_ = 0;
    WireType type_ = WireType::varint;
    std::uint64_t number_ = 0;
    std::string_view blob_;
};

} // namespace tessera
