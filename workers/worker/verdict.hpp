#pragma once

#include <tessera/journal/records.hpp>
#include <tessera/supervisor/supervisor_protocol.hpp>

#include <string>
#include <string_view>

namespace tessera {

struct Verdict {
    OutcomeKind kind = OutcomeKind::succeeded;
    FailureClass failure = FailureClass::none;
    std::string message; ///< one line for people; empty on success
};

/// What the end of a process means. `path` is the PATH in which its program was looked up.
///
/// A program that is not there or cannot be executed is a verdict: a second try would end the same. Lack of
/// descriptors, processes or memory at the start is of the class spawn.
Verdict judge(const EndedReport& report, const StepSpec& spec, std::string_view path);

/// True if the process ended by a signal that a batch system or a terminal may have sent to it just before it
/// tells us: then a stop that arrives soon after makes it preempted.
bool may_be_preemption(const EndedReport& report);

} // namespace tessera
