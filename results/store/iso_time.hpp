#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// Characters of iso_time's result.
inline constexpr std::size_t iso_time_size = 24;

/// Nanoseconds since 1970 as UTC text, "2026-01-31T23:59:59.123Z". Years outside 1 to 9999 give blanks.
std::string iso_time(std::int64_t wall_ns);

} // namespace tessera
