#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// For each device the number of the NUMA node that it is near, by the machine's topology (hwloc); empty if
/// one of them is not known. `identities` are UUIDs or indices in the order of the PCI bus, as NVIDIA's
/// driver numbers them.
std::vector<std::uint32_t> device_locality(const std::vector<std::string>& identities,
                                           const std::string& root = "");

/// An NVIDIA device as its driver lists it below /proc.
struct NvidiaDevice {
    std::string uuid;
    std::string bus_id; ///< "0000:18:00.0"
};

/// In the order of the bus.
std::vector<NvidiaDevice> nvidia_devices(const std::string& root = "");

} // namespace tessera
