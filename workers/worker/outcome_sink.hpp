#pragma once

#include <tessera/journal/records.hpp>

namespace tessera {

/// Where a worker keeps how its attempts ended before it tells the controller, so that a dead controller
/// costs no finished attempt.
class OutcomeSink {
public:
    virtual ~OutcomeSink() = default;

    /// From its return on the record survives the death of this process. Throws Error.
    virtual void append(const OutcomeRecord& record) = 0;

    /// From its return on all records survive the death of this machine. Throws Error.
    virtual void sync() = 0;
};

} // namespace tessera
