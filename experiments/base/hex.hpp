#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tessera {

/// Two lower-case hexadecimal digits a byte.
std::string to_hex(std::span<const std::uint8_t> bytes);

} // namespace tessera
