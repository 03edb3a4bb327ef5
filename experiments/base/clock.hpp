#pragma once

#include <chrono>
#include <cstdint>

namespace tessera {

/// A moment or a span of one host's monotonic clock, in nanoseconds. Moments of two hosts are never compared.
using Duration = std::chrono::nanoseconds;
using Moment = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

inline Duration from_seconds(double value_s) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value_s));
}

/// Wall time in nanoseconds since 1970 (UTC): for people, never for a decision.
using WallTime = std::int64_t;

/// What time it is: the machine's in programs, a settable one in tests and simulations.
class Clock {
public:
    virtual ~Clock() = default;
    virtual Moment now() const = 0;
    virtual WallTime wall_ns() const = 0;
};

class SystemClock final : public Clock {
public:
    Moment now() const override {
        return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
    }

    WallTime wall_ns() const override {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    }
};

} // namespace tessera
