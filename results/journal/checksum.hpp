#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

/// XXH3, 64 bits (https://github.com/Cyan4973/xxHash).
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

} // namespace tessera
