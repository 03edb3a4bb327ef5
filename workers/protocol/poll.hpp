#pragma once

#include <tessera/base/clock.hpp>

#include <span>

#include <poll.h>

namespace tessera {

/// ppoll(2) for at most `timeout`; true if a descriptor is ready or a signal came. Throws
/// IoError.
bool poll_for(std::span<pollfd> fds, Duration timeout);

} // namespace tessera
