#pragma once

#include <chrono>

namespace tessera::llm {

/// Seconds since its making, by the monotonic clock.
class Stopwatch {
public:
    double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

} // namespace tessera::llm
