#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

/// What the cgroups (version 1 or 2) of this process allow and count. `root` stands before /proc and /sys in
/// tests.
class Cgroup {
public:
    static Cgroup of_this_process(const std::string& root = "");

    /// The smallest memory limit on the way up the hierarchy; empty if there is none.
    std::optional<std::uint64_t> memory_limit_bytes() const;

    /// Processor time per time that the quota allows, the smallest on the way up; empty if there is none.
    std::optional<double> cpu_quota() const;

    /// How many processes of this cgroup the kernel killed for lack of memory; empty if it cannot be read.
    std::optional<std::uint64_t> oom_kills() const;

    /// The same over the whole machine (/proc/vmstat).
    std::optional<std::uint64_t> machine_oom_kills() const;

private:
    struct Place {
        std::string mount; ///< of the controller; empty if it is not there
        std::string path;  ///< of the cgroup below it, "" or "/..."
    };

    std::string root_;
    Place unified_;
    Place memory_v1_;
    Place cpu_v1_;
};

} // namespace tessera
