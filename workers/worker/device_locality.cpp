#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/text.hpp>
#include <tessera/worker/device_locality.hpp>

#include <hwloc.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

namespace tessera {

namespace fs = std::filesystem;

namespace {

class Topology {
public:
    Topology() {
        hwloc_topology_t raw = nullptr;
        if (hwloc_topology_init(&raw) != 0) return;
        topology_.reset(raw);
        hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
        if (hwloc_topology_load(raw) != 0) topology_.reset();
    }

    std::optional<std::uint32_t> numa_node(const std::string& bus_id) const {
        if (!topology_) return std::nullopt;
        hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology_.get(), bus_id.c_str());
        if (device == nullptr) return std::nullopt;
        hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology_.get(), device);
        if (place == nullptr || place->nodeset == nullptr) return std::nullopt;
        const int node = hwloc_bitmap_first(place->nodeset);
        if (node < 0) return std::nullopt;
        return static_cast<std::uint32_t>(node);
    }

private:
    struct Destroy {
        void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
    };

    std::unique_ptr<hwloc_topology, Destroy> topology_;
};

std::string value_of(const std::string& text, std::string_view key) {
    for (const std::string& line : split(text, '\n')) {
        if (line.compare(0, key.size(), key) != 0) continue;
        const std::size_t begin = line.find_first_not_of(": \t", key.size());
        return begin == std::string::npos ? std::string() : line.substr(begin);
    }
    return {};
}

/// A UUID may be given by a unique beginning.
const NvidiaDevice* find(const std::vector<NvidiaDevice>& devices, const std::string& identity) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(identity.data(), identity.data() + identity.size(), index);
    if (error == std::errc{} && end == identity.data() + identity.size())
        return index < devices.size() ? &devices[index] : nullptr;
    const NvidiaDevice* found = nullptr;
    for (const NvidiaDevice& device : devices) {
        if (device.uuid.compare(0, identity.size(), identity) != 0) continue;
        if (found != nullptr) return nullptr;
        found = &device;
    }
    return found;
}

} // namespace

std::vector<NvidiaDevice> nvidia_devices(const std::string& root) {
    std::vector<NvidiaDevice> devices;
    std::error_code error;
    for (fs::directory_iterator it(root + "/proc/driver/nvidia/gpus", error), end; !error && it != end;
         it.increment(error)) {
        try {
            const std::string text = read_file(it->path().string() + "/information");
            devices.push_back({value_of(text, "GPU UUID"), it->path().filename().string()});
        } catch (const IoError&) {
            return {}; // indices would name the wrong ones
        }
    }
    std::sort(devices.begin(), devices.end(),
              [](const NvidiaDevice& a, const NvidiaDevice& b) { return a.bus_id < b.bus_id; });
    return devices;
}

std::vector<std::uint32_t> device_locality(const std::vector<std::string>& identities,
                                           const std::string& root) {
    const std::vector<NvidiaDevice> devices = nvidia_devices(root);
    if (identities.empty() || devices.empty()) return {};
    const Topology topology;
    std::vector<std::uint32_t> nodes;
    for (const std::string& identity : identities) {
        const NvidiaDevice* device = find(devices, identity);
        const auto node = device == nullptr ? std::nullopt : topology.numa_node(device->bus_id);
        if (!node) return {};
        nodes.push_back(*node);
    }
    return nodes;
}

} // namespace tessera
