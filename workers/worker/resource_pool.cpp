#include <tessera/worker/resource_pool.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tessera {

namespace {

/// A step that asks for no core still needs somebody to run it.
std::uint32_t cores_of(const Resources& wanted) {
    return std::max<std::uint32_t>(wanted.cores, 1);
}

} // namespace

ResourcePool::ResourcePool(const Welcome& owned, Locality locality)
    : core_slots_(std::max<std::uint32_t>(owned.core_slots, 1))
    , memory_bytes_(owned.memory_bytes)
    , cpus_(owned.cpus)
    , devices_(owned.devices)
    , locality_(std::move(locality))
    , free_cores_(core_slots_)
    , free_devices_(devices_.size())
    , cpu_users_(cpus_.size(), 0)
    , device_taken_(devices_.size(), false) {
    if (locality_.cpu_nodes.size() != cpus_.size()) locality_.cpu_nodes.clear();
    if (locality_.device_nodes.size() != devices_.size()) locality_.device_nodes.clear();
}

std::string ResourcePool::why_never(const Resources& wanted) const {
    if (cores_of(wanted) > core_slots_)
        return fmt::format("the step needs {} cores, the worker has {}", wanted.cores, core_slots_);
    if (wanted.devices > devices_.size())
        return fmt::format("the step needs {} devices, the worker has {}", wanted.devices, devices_.size());
    if (memory_bytes_ != 0 && wanted.memory_bytes > memory_bytes_)
        return fmt::format("the step needs {} bytes of memory, the worker has {}", wanted.memory_bytes,
                           memory_bytes_);
    return {};
}

bool ResourcePool::fits(const Resources& wanted) const {
    return cores_of(wanted) <= free_cores_ && wanted.devices <= free_devices_ &&
           (memory_bytes_ == 0 || wanted.memory_bytes <= memory_bytes_ - used_memory_bytes_);
}

Placement ResourcePool::take(const Resources& wanted) {
    Placement placement;
    const std::vector<std::size_t> devices = choose_devices(wanted.devices);
    for (const std::size_t device : devices) {
        device_taken_[device] = true;
        placement.devices.push_back(devices_[device]);
    }
    placement.cpus = take_cpus(cores_of(wanted), devices);
    free_cores_ -= cores_of(wanted);
    free_devices_ -= devices.size();
    used_memory_bytes_ += memory_bytes_ == 0 ? 0 : wanted.memory_bytes;
    return placement;
}

void ResourcePool::release(const Resources& wanted, const Placement& placement) {
    for (const std::string& device : placement.devices) {
        const auto found = std::find(devices_.begin(), devices_.end(), device);
        device_taken_[static_cast<std::size_t>(found - devices_.begin())] = false;
    }
    for (const std::uint32_t cpu : placement.cpus) {
        const auto found = std::find(cpus_.begin(), cpus_.end(), cpu);
        --cpu_users_[static_cast<std::size_t>(found - cpus_.begin())];
    }
    free_cores_ += cores_of(wanted);
    free_devices_ += placement.devices.size();
    used_memory_bytes_ -= memory_bytes_ == 0 ? 0 : wanted.memory_bytes;
}

/// All near one NUMA node if one has enough free devices; of several such nodes the one with the fewest,
/// which keeps the others whole for larger steps.
std::vector<std::size_t> ResourcePool::choose_devices(std::size_t count) const {
    if (count == 0) return {};
    std::vector<std::size_t> best;
    std::map<std::uint32_t, std::vector<std::size_t>> free_by_node;
    for (std::size_t device = 0; device < devices_.size(); ++device) {
        if (device_taken_[device]) continue;
        best.push_back(device);
        if (!locality_.device_nodes.empty()) free_by_node[locality_.device_nodes[device]].push_back(device);
    }
    for (const auto& [node, devices] : free_by_node)
        if (devices.size() >= count && devices.size() < best.size()) best = devices;
    best.resize(count);
    return best;
}

/// The CPUs with the fewest users; of these, those near the devices, or else near the first one chosen.
std::vector<std::uint32_t> ResourcePool::take_cpus(std::uint32_t cores,
                                                   std::span<const std::size_t> devices) {
    std::vector<std::uint32_t> near;
    if (!locality_.device_nodes.empty())
        for (const std::size_t device : devices)
            near.push_back(locality_.device_nodes[device]);
    const auto is_near = [&](std::size_t cpu) {
        return !locality_.cpu_nodes.empty() &&
               std::find(near.begin(), near.end(), locality_.cpu_nodes[cpu]) != near.end();
    };

    std::vector<std::uint32_t> chosen;
    std::vector<bool> taken(cpus_.size(), false);
    const std::size_t count = std::min<std::size_t>(cores, cpus_.size());
    while (chosen.size() < count) {
        std::size_t best = cpus_.size();
        for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
            if (taken[cpu]) continue;
            if (best == cpus_.size() ||
                std::pair(cpu_users_[cpu], !is_near(cpu)) < std::pair(cpu_users_[best], !is_near(best)))
                best = cpu;
        }
        taken[best] = true;
        ++cpu_users_[best];
        chosen.push_back(cpus_[best]);
        if (near.empty() && !locality_.cpu_nodes.empty()) near.push_back(locality_.cpu_nodes[best]);
    }
    return chosen;
}

} // namespace tessera
