#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/protocol/messages.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <poll.h>

namespace tessera {

/// What a worker gives to one attempt while it runs.
struct Placement {
    std::vector<std::uint32_t> cpus;  ///< for the CPU mask; empty: not bound
    std::vector<std::string> devices; ///< entries for the visibility variable
};

enum class StopReason : std::uint8_t {
    preempt, ///< SIGTERM, the grace time, SIGKILL; ends as preempted
    kill,    ///< SIGKILL at once; ends as preempted
};

/// Runs attempts and tells what happens to them as a stream of events (started, metrics, ended): an attempt
/// need not be a process. An attempt has ended, and its devices are free, only when nothing of it is left.
class Executor {
public:
    using Event = std::variant<StartedEvent, MetricsEvent, EndedEvent>;

    virtual ~Executor() = default;

    /// Never fails: what goes wrong comes as an EndedEvent of the class spawn, or verdict if no other
    /// try can help.
    virtual void start(const WorkItem& item, const Placement& placement) = 0;

    /// No effect on tickets that have ended.
    virtual void stop(std::uint64_t ticket, StopReason reason) = 0;

    /// Descriptors to wait on.
    virtual std::vector<pollfd> poll_fds() const = 0;

    /// When poll() must run next even if no descriptor is ready; empty: no need.
    virtual std::optional<Moment> next_deadline() const = 0;

    /// Does what is due and returns what has happened since.
    virtual std::vector<Event> poll() = 0;
};

} // namespace tessera
