#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// For each logical CPU the number of its NUMA node as the kernel lists it below /sys; empty if one of them
/// is not known. `root` stands before /sys, for tests.
std::vector<std::uint32_t> cpu_nodes(const std::vector<std::uint32_t>& cpus, const std::string& root = "");

} // namespace tessera
