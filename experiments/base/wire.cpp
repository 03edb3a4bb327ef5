#include <tessera/base/wire.hpp>

#include <cstring>

namespace tessera {

void WireWriter::varint(std::uint64_t value) {
    while (value >= 0x80) {
        out_ += static_cast<char>(value | 0x80U);
        value >>= 7U;
    }
    out_ += static_cast<char>(value);
}

void WireWriter::fixed64(std::uint64_t value) {
    char bytes[8];
    for (char& byte : bytes) {
        byte = static_cast<char>(value);
        value >>= 8U;
    }
    out_.append(bytes, sizeof bytes);
}

void WireReader::fail(const char* what) const {
    throw FormatError(std::string(source_), position_, what);
}

std::uint64_t WireReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (position_ == bytes_.size()) fail("a number is cut short");
        const auto byte = static_cast<std::uint8_t>(bytes_[position_++]);
        if (shift == 63 && byte > 1) fail("a number has more than 64 bits");
        value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        if (byte < 0x80) return value;
    }
    fail("a number has more than ten bytes");
}

bool WireReader::next() {
    if (position_ == bytes_.size()) return false;
    const std::uint64_t key = varint();
    if (key >> 3U > 0xFFFFFFFFU) fail("a field's tag is out of range");
    tag_ = static_cast<std::uint32_t>(key >> 3U);
    switch (key & 7U) {
    case 0:
        type_ = WireType::varint;
        number_ = varint();
        return true;
    case 1: {
        type_ = WireType::fixed64;
        if (bytes_.size() - position_ < 8) fail("a field is cut short");
        number_ = 0;
        for (unsigned i = 0; i < 8; ++i)
            number_ |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes_[position_ + i]))
                       << (8 * i);
        position_ += 8;
        return true;
    }
    case 2: {
        type_ = WireType::bytes;
        const std::uint64_t length = varint();
        if (length > bytes_.size() - position_) fail("a field is cut short");
        blob_ = bytes_.substr(position_, length);
        position_ += length;
        return true;
    }
    default:
        fail("a field has an unknown type");
    }
}

std::uint64_t WireReader::as_uint() const {
    if (type_ != WireType::varint) fail("a field is not a number");
    return number_;
}

std::uint32_t WireReader::as_uint32() const {
    if (as_uint() > 0xFFFFFFFFU) fail("a number has more than 32 bits");
    return static_cast<std::uint32_t>(number_);
}

std::int64_t WireReader::as_int() const {
    const std::uint64_t value = as_uint();
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

double WireReader::as_double() const {
    if (type_ != WireType::fixed64) fail("a field is not a floating-point number");
    return std::bit_cast<double>(number_);
}

std::string_view WireReader::as_bytes() const {
    if (type_ != WireType::bytes) fail("a field is not a string of bytes");
    return blob_;
}

Id128 WireReader::as_id() const {
    Id128 id;
    if (as_bytes().size() != id.bytes.size()) fail("an id does not have 16 bytes");
    std::memcpy(id.bytes.data(), blob_.data(), id.bytes.size());
    return id;
}

} // namespace tessera
