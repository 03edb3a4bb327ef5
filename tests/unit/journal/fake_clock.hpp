#pragma once

#include <tessera/base/clock.hpp>

class FakeClock final : public tessera::Clock {
public:
    tessera::Moment now() const override { return now_; }

    tessera::WallTime wall_ns() const override { return 1'767'225'600'000'000'000; } // 2026-01-01

    void advance(double value_s) { now_ += tessera::from_seconds(value_s); }

private:
    tessera::Moment now_{};
};
