#include <tessera/worker/partition.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace tessera {

namespace {

using Rank = std::size_t;

/// One device as the ranks of its node see it.
struct Device {
    std::string id;
    std::map<Rank, std::string> entries; ///< for each worker that can reach it, its own entry
    std::uint32_t locality = 0;
    std::size_t order = 0; ///< of the first report
};

std::vector<std::vector<Rank>> ranks_by_node(std::span<const NodeReport> reports) {
    std::map<std::string, std::size_t> index;
    std::vector<std::vector<Rank>> nodes;
    for (Rank rank = 0; rank < reports.size(); ++rank) {
        const auto [found, is_new] = index.emplace(reports[rank].node, nodes.size());
        if (is_new) nodes.emplace_back();
        nodes[found->second].push_back(rank);
    }
    return nodes;
}

std::string device_id(const NodeReport& report, std::size_t i) {
    return i < report.device_ids.size() && !report.device_ids[i].empty() ? report.device_ids[i]
                                                                         : report.devices[i];
}

std::set<std::string> device_ids(const NodeReport& report) {
    std::set<std::string> ids;
    for (std::size_t i = 0; i < report.devices.size(); ++i)
        ids.insert(device_id(report, i));
    return ids;
}

bool controller_is_worker(std::span<const NodeReport> reports, const std::vector<Rank>& ranks,
                          const PartitionOptions& options) {
    if (options.controller_only) return false;
    if (ranks.size() == 1) return true;
    // With one rank a device, a controller that only controls would leave its device to nobody.
    std::set<std::string> others;
    for (const Rank rank : ranks)
        if (rank != 0) others.merge(device_ids(reports[rank]));
    const std::set<std::string> own = device_ids(reports[0]);
    return !std::includes(others.begin(), others.end(), own.begin(), own.end());
}

std::vector<Device> devices_of(std::span<const NodeReport> reports, const std::vector<Rank>& workers) {
    std::map<std::string, Device> found;
    for (const Rank rank : workers) {
        const NodeReport& report = reports[rank];
        for (std::size_t i = 0; i < report.devices.size(); ++i) {
            const std::string id = device_id(report, i);
            const auto [place, is_new] = found.try_emplace(id);
            Device& device = place->second;
            if (is_new) {
                device.id = id;
                device.order = found.size();
                if (i < report.device_locality.size()) device.locality = report.device_locality[i];
            }
            device.entries.try_emplace(rank, report.devices[i]);
        }
    }
    std::vector<Device> devices;
    for (auto& [id, device] : found)
        devices.push_back(std::move(device));
    std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
        return std::pair(a.locality, a.order) < std::pair(b.locality, b.order);
    });
    return devices;
}

std::uint32_t first_cpu(const WorkerShare& share) {
    return share.cpus.empty() ? 0 : share.cpus.front();
}

/// Neighbours among the devices go to neighbours among the CPUs: both are numbered by socket. With more
/// workers than devices some get none.
void deal_evenly(const std::vector<Device>& devices, std::vector<Rank> workers, Partition& partition) {
    std::stable_sort(workers.begin(), workers.end(), [&](Rank a, Rank b) {
        return first_cpu(*partition.shares[a]) < first_cpu(*partition.shares[b]);
    });
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const Rank rank = workers[i * workers.size() / devices.size()];
        partition.shares[rank]->devices.push_back(devices[i].entries.at(rank));
    }
}

/// The devices with the fewest possible owners choose first, each the owner that has least.
void deal_by_need(std::vector<Device> devices, Partition& partition) {
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device& a, const Device& b) { return a.entries.size() < b.entries.size(); });
    for (const Device& device : devices) {
        const auto least =
            std::min_element(device.entries.begin(), device.entries.end(), [&](const auto& a, const auto& b) {
                return partition.shares[a.first]->devices.size() < partition.shares[b.first]->devices.size();
            });
        partition.shares[least->first]->devices.push_back(least->second);
    }
}

void divide_devices(std::span<const NodeReport> reports, const std::vector<Rank>& workers,
                    Partition& partition) {
    const std::vector<Device> devices = devices_of(reports, workers);
    const bool all_reach_all = std::all_of(devices.begin(), devices.end(), [&](const Device& device) {
        return device.entries.size() == workers.size();
    });
    if (all_reach_all)
        deal_evenly(devices, workers, partition);
    else
        deal_by_need(devices, partition);
}

/// CPUs of a block of workers with one common mask: as even as possible, neighbours together. True if some
/// must share.
bool divide_common_mask(const std::vector<std::uint32_t>& cpus, const std::vector<Rank>& workers,
                        Partition& partition) {
    const std::size_t count = workers.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = i * cpus.size() / count;
        const std::size_t end = std::max(begin + 1, (i + 1) * cpus.size() / count);
        partition.shares[workers[i]]->cpus.assign(cpus.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  cpus.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return count > cpus.size();
}

/// Masks that differ and may overlap: the CPU with the fewest takers chooses first, each the taker that has
/// least. True if some must share.
bool divide_mixed_masks(const std::map<Rank, std::vector<std::uint32_t>>& masks, Partition& partition) {
    std::map<std::uint32_t, std::vector<Rank>> takers;
    for (const auto& [rank, cpus] : masks)
        for (const std::uint32_t cpu : cpus)
            takers[cpu].push_back(rank);
    std::vector<std::uint32_t> order;
    for (const auto& [cpu, ranks] : takers)
        order.push_back(cpu);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return takers[a].size() < takers[b].size(); });
    const auto owned = [&](Rank rank) -> std::vector<std::uint32_t>& { return partition.shares[rank]->cpus; };
    for (const std::uint32_t cpu : order) {
        const std::vector<Rank>& ranks = takers[cpu];
        const Rank least = *std::min_element(
            ranks.begin(), ranks.end(), [&](Rank a, Rank b) { return owned(a).size() < owned(b).size(); });
        owned(least).push_back(cpu);
    }
    bool shared = false;
    std::size_t next = 0; // spreads those that must share over their masks
    for (const auto& [rank, cpus] : masks) {
        std::sort(owned(rank).begin(), owned(rank).end());
        if (!owned(rank).empty() || cpus.empty()) continue;
        owned(rank).push_back(cpus[next++ % cpus.size()]);
        shared = true;
    }
    return shared;
}

/// True if some workers share a core.
bool divide_cpus(std::span<const NodeReport> reports, const std::vector<Rank>& workers,
                 Partition& partition) {
    std::map<Rank, std::vector<std::uint32_t>> masks;
    for (const Rank rank : workers) {
        std::vector<std::uint32_t> cpus = reports[rank].cpus;
        std::sort(cpus.begin(), cpus.end());
        cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
        masks[rank] = std::move(cpus);
    }
    const std::vector<std::uint32_t>& first = masks.begin()->second;
    const bool common =
        std::all_of(masks.begin(), masks.end(), [&](const auto& mask) { return mask.second == first; });
    if (!common) return divide_mixed_masks(masks, partition);
    return !first.empty() && divide_common_mask(first, workers, partition);
}

void divide_memory(std::span<const NodeReport> reports, const std::vector<Rank>& workers,
                   Partition& partition) {
    std::uint64_t slots = 0;
    for (const Rank rank : workers) {
        WorkerShare& share = *partition.shares[rank];
        share.core_slots = static_cast<std::uint32_t>(std::max<std::size_t>(1, share.cpus.size()));
        slots += share.core_slots;
    }
    for (const Rank rank : workers) {
        WorkerShare& share = *partition.shares[rank];
        const double part = static_cast<double>(share.core_slots) / static_cast<double>(slots);
        share.memory_bytes =
            workers.size() == 1
                ? reports[rank].memory_bytes
                : static_cast<std::uint64_t>(static_cast<double>(reports[rank].memory_bytes) * part);
    }
}

std::size_t unreachable_devices(std::span<const NodeReport> reports, const std::vector<Rank>& ranks,
                                const std::vector<Rank>& workers) {
    std::set<std::string> all;
    std::set<std::string> reached;
    for (const Rank rank : ranks)
        all.merge(device_ids(reports[rank]));
    for (const Rank rank : workers)
        reached.merge(device_ids(reports[rank]));
    return all.size() - reached.size();
}

} // namespace

Partition partition_nodes(std::span<const NodeReport> reports, const PartitionOptions& options) {
    Partition partition;
    partition.shares.resize(reports.size());
    std::size_t sharing_nodes = 0;
    std::string first_sharing;
    std::size_t lost_devices = 0;
    for (const std::vector<Rank>& ranks : ranks_by_node(reports)) {
        std::vector<Rank> workers;
        for (const Rank rank : ranks)
            if (rank != 0 || controller_is_worker(reports, ranks, options)) workers.push_back(rank);
        lost_devices += unreachable_devices(reports, ranks, workers);
        if (workers.empty()) continue;
        for (const Rank rank : workers)
            partition.shares[rank].emplace();
        if (divide_cpus(reports, workers, partition) && sharing_nodes++ == 0)
            first_sharing = fmt::format("{} has {} workers", reports[ranks.front()].host, workers.size());
        divide_memory(reports, workers, partition);
        divide_devices(reports, workers, partition);
    }
    if (sharing_nodes > 0)
        partition.warnings.push_back(fmt::format(
            "there are more workers than cores on {} node(s) ({}): they share cores, so timings are not "
            "comparable; start fewer workers",
            sharing_nodes, first_sharing));
    if (lost_devices > 0)
        partition.warnings.push_back(fmt::format(
            "{} device(s) stay unused: only the controller can reach them, and it is not a worker",
            lost_devices));
    return partition;
}

} // namespace tessera
