#pragma once

#include <tessera/campaign/step_spec.hpp>
#include <tessera/protocol/messages.hpp>
#include <tessera/worker/executor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// The NUMA nodes of what a worker owns, in the order of its Welcome; empty where unknown.
struct Locality {
    std::vector<std::uint32_t> cpu_nodes;
    std::vector<std::uint32_t> device_nodes;
};

/// What a worker owns, and what of it is free: core slots, memory, devices. Gives attempts concrete CPUs and
/// devices, near to one another where the locality is known.
class ResourcePool {
public:
    explicit ResourcePool(const Welcome& owned, Locality locality = {});

    /// Why such an attempt could not even run alone, in one line; empty if it could.
    std::string why_never(const Resources& wanted) const;

    bool fits(const Resources& wanted) const;

    bool has_free_core() const { return free_cores_ > 0; }

    /// Only what fits().
    Placement take(const Resources& wanted);

    void release(const Resources& wanted, const Placement& placement);

private:
    std::vector<std::size_t> choose_devices(std::size_t count) const;
    std::vector<std::uint32_t> take_cpus(std::uint32_t cores, std::span<const std::size_t> devices);

    std::uint32_t core_slots_;
    std::uint64_t memory_bytes_; ///< 0: not counted
    std::vector<std::uint32_t> cpus_;
    std::vector<std::string> devices_;
    Locality locality_;

    std::uint32_t free_cores_;
    std::uint64_t used_memory_bytes_ = 0;
    std::size_t free_devices_;
    std::vector<std::uint32_t> cpu_users_; ///< above one only where slots share cores
    std::vector<bool> device_taken_;
};

} // namespace tessera
