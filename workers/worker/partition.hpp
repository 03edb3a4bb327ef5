#pragma once

#include <tessera/protocol/messages.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// What one worker owns of its node: fields of its Welcome.
struct WorkerShare {
    std::vector<std::uint32_t> cpus;
    std::vector<std::string> devices; ///< entries of the worker's own visibility list
    std::uint32_t core_slots = 1;
    std::uint64_t memory_bytes = 0;

    bool operator==(const WorkerShare&) const = default;
};

struct PartitionOptions {
    bool controller_only = false; ///< rank 0 is never a worker
};

struct Partition {
    std::vector<std::optional<WorkerShare>> shares; ///< one a rank; empty if the rank is not a worker
    std::vector<std::string> warnings;              ///< for the user, at most one of each kind
};

/// Divides nodes over their ranks; `reports[0]` is the controller's. Pure.
///
/// - Rank 0 is a worker if no other rank is on its node, or if only it can reach a device there.
/// - Each device of a node (reports with one identity are one device) goes to exactly one worker that
/// reported it; the
///   numbers are even where the reports allow, and near devices stay together.
/// - Each CPU goes to one worker that may use it; workers left without one share, with a warning.
/// - Every worker has at least one core slot. Memory is divided in proportion to the cores.
Partition partition_nodes(std::span<const NodeReport> reports, const PartitionOptions& options = {});

} // namespace tessera
