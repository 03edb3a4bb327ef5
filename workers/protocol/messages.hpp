#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/base/id.hpp>
#include <tessera/campaign/step_spec.hpp>
#include <tessera/journal/records.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera {

/// Raised whenever a message changes its meaning; peers of two versions refuse each other.
inline constexpr std::uint32_t protocol_version = 1;

/// What one worker sees of its node. The controller partitions nodes over their workers from these reports.
struct NodeReport {
    std::string node;                ///< identity: SLURMD_NODENAME, else pod UID, else host name and boot id
    std::string host;                ///< for people
    std::string boot_id;             ///< /proc/sys/kernel/random/boot_id
    std::vector<std::uint32_t> cpus; ///< logical CPUs the worker may use
    std::uint64_t memory_bytes = 0;
    std::vector<std::string> devices; ///< entries of the inherited visibility list, opaque
    std::vector<std::string>
        device_ids; ///< for each, its identity (UUID, else entry of SLURM_STEP_GPUS, else the entry)
    std::vector<std::uint32_t> device_locality; ///< for each, the NUMA node it is near; empty if unknown

    bool operator==(const NodeReport&) const = default;
};

/// First message of a worker.
struct Hello {
    std::uint32_t version = protocol_version;
    std::string build;
    Id128 campaign_id;
    std::int64_t pid = 0;
    std::int64_t monotonic_ns = 0;
    WallTime wall_ns = 0;
    NodeReport node;

    bool operator==(const Hello&) const = default;
};

/// The controller's answer: what the worker owns and where it works.
struct Welcome {
    std::uint32_t worker = 0; ///< its number in this part
    std::string part;
    std::string campaign_dir; ///< absolute
    std::vector<std::uint32_t> cpus;
    std::vector<std::string> devices; ///< entries for the visibility variable
    std::string visibility_variable;  ///< such as CUDA_VISIBLE_DEVICES; empty without devices
    std::uint32_t core_slots = 1;     ///< at least one; more than cpus.size() only when workers share cores
    std::uint64_t memory_bytes = 0;
    double heartbeat_s = 5;
    double report_interval_s = 0.02; ///< how long started and metric events may wait for company

    bool operator==(const Welcome&) const = default;
};

/// The controller's answer when they must not work together; the worker ends.
struct Refuse {
    std::string reason;

    bool operator==(const Refuse&) const = default;
};

/// One attempt handed to a worker. `ticket` is unique within the part.
struct WorkItem {
    std::uint64_t ticket = 0;
    StepKey step;
    std::uint32_t number = 1;
    std::uint32_t generation = 1;
    ClaimRef claim;
    StepSpec spec;

    bool operator==(const WorkItem&) const = default;
};

/// Work for one worker. On the wire a step's text goes out once and later items carry what differs from it.
struct Assign {
    std::vector<WorkItem> items;

    bool operator==(const Assign&) const = default;
};

/// Take back attempts that were not started.
struct Revoke {
    std::vector<std::uint64_t> tickets;

    bool operator==(const Revoke&) const = default;
};

/// Those of a Revoke that were indeed not started; the others go on.
struct Revoked {
    std::vector<std::uint64_t> tickets;

    bool operator==(const Revoked&) const = default;
};

struct StartedEvent {
    std::uint64_t ticket = 0;
    WallTime at_ns = 0;
    std::vector<std::string> devices;

    bool operator==(const StartedEvent&) const = default;
};

struct MetricsEvent {
    std::uint64_t ticket = 0;
    std::vector<MetricPoint> points;

    bool operator==(const MetricsEvent&) const = default;
};

struct EndedEvent {
    std::uint64_t ticket = 0;
    OutcomeRecord outcome;

    bool operator==(const EndedEvent&) const = default;
};

/// A worker's data, in order. At most one is unacknowledged; the outcomes in it are already in the worker's
/// spool.
struct Report {
    std::uint64_t number = 0; ///< 1, 2, 3 ...
    std::vector<StartedEvent> started;
    std::vector<MetricsEvent> metrics;
    std::vector<EndedEvent> ended;

    bool operator==(const Report&) const = default;
};

/// All outcomes of reports up to `number` are durable in the journal.
struct Acknowledge {
    std::uint64_t number = 0;

    bool operator==(const Acknowledge&) const = default;
};

enum class StopMode : std::uint8_t {
    finish,  ///< nothing runs any more: say goodbye
    drain,   ///< start nothing; running attempts get SIGTERM, the grace time, SIGKILL and end as preempted
    kill,    ///< running attempts get SIGKILL at once
    abandon, ///< as drain, but the controller can record nothing any more: outcomes stay in the spool
};

struct Stop {
    StopMode mode = StopMode::finish;

    bool operator==(const Stop&) const = default;
};

/// The last message of a worker: everything it had was reported.
struct Goodbye {
    bool operator==(const Goodbye&) const = default;
};

/// Either side, when it had nothing else to say for a heartbeat interval.
struct Heartbeat {
    bool operator==(const Heartbeat&) const = default;
};

using Message = std::variant<Hello, Welcome, Refuse, Assign, Revoke, Revoked, Report, Acknowledge, Stop,
                             Goodbye, Heartbeat>;

} // namespace tessera
