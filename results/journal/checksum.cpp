#include <tessera/journal/checksum.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tessera {

std::uint64_t checksum(std::string_view bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

} // namespace tessera
