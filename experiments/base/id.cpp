#include <tessera/base/error.hpp>
#include <tessera/base/hex.hpp>
#include <tessera/base/id.hpp>

#include <cerrno>
#include <sys/random.h>

namespace tessera {

std::string Id128::hex() const {
    return to_hex(bytes);
}

namespace {

int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

} // namespace

std::optional<Id128> Id128::parse(std::string_view text) {
    Id128 id;
    if (text.size() != 2 * id.bytes.size()) return std::nullopt;
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        const int high = digit_value(text[2 * i]);
        const int low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        id.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return id;
}

Id128 Id128::random() {
    Id128 id;
    if (getrandom(id.bytes.data(), id.bytes.size(), 0) != static_cast<ssize_t>(id.bytes.size()))
        throw IoError("read random bytes", "getrandom", errno);
    return id;
}

} // namespace tessera
