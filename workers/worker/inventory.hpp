#pragma once

#include <tessera/protocol/messages.hpp>
#include <tessera/worker/environment.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct InventoryOptions {
    std::string visibility_variable; ///< of the site's profile; empty: the first known one that is set
    std::string root;                ///< before /proc and /sys, for tests
};

struct Inventory {
    NodeReport report;
    std::string visibility_variable; ///< the one that the devices were read from; empty without devices
};

/// What this process may use of its machine. `environment` is the rank's own.
///
/// The node is TESSERA_NODE if set, else SLURMD_NODENAME, else POD_UID (Kubernetes' downward API), else host
/// name and boot id. CPUs are the process' mask; a cgroup quota below it shortens the list. Memory is the
/// cgroup's limit, else what the kernel calls available.
Inventory take_inventory(const Environment& environment, const InventoryOptions& options = {});

/// Entries of a visibility list as opaque strings. As the CUDA runtime reads it, the list ends at the first
/// entry that names no device ("-1", "NoDevFiles", an empty one), and an entry that is there twice counts
/// once.
std::vector<std::string> visible_entries(std::string_view list);

/// What makes two entries of two ranks of one node the same device: a UUID by itself; else the entry of
/// SLURM_STEP_GPUS at the same place, if that list is as long; else the entry.
std::vector<std::string> device_identities(const std::vector<std::string>& entries,
                                           std::string_view slurm_step_gpus);

/// A CPU list as the kernel writes it, "0-3,8": used for Slurm's list of devices too.
std::vector<std::uint32_t> parse_index_list(std::string_view text);

} // namespace tessera
