#pragma once

#include <tessera/journal/records.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Where a frame stands: acceptance orders by (part, sequence), parts by their name, which begins with their UTC.
struct FramePosition {
    std::string part;
    std::uint64_t sequence = 0;

    auto operator<=>(const FramePosition&) const = default;
};

} // namespace tessera
