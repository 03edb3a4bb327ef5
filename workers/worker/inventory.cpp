#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/text.hpp>
#include <tessera/supervisor/cgroup.hpp>
#include <tessera/worker/device_locality.hpp>
#include <tessera/worker/inventory.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <functional>

#include <sched.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr std::array visibility_variables = {"CUDA_VISIBLE_DEVICES", "HABANA_VISIBLE_MODULES",
                                             "HABANA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
constexpr std::string_view cuda_variable = "CUDA_VISIBLE_DEVICES";
constexpr std::uint32_t longest_index_list = 1U << 20U;

std::string read_line(const std::string& path) {
    try {
        std::string text = read_file(path);
        text.erase(std::min(text.find('\n'), text.size()));
        return text;
    } catch (const IoError&) {
        return {};
    }
}

std::string host_name() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

std::string node_identity(const Environment& environment, const NodeReport& report) {
    for (const char* variable : {"TESSERA_NODE", "SLURMD_NODENAME", "POD_UID"})
        if (const std::string_view value = find_variable(environment, variable); !value.empty())
            return std::string(value);
    return report.host + "/" + report.boot_id;
}

std::vector<std::uint32_t> allowed_cpus() {
    // The call fails while the set is smaller than the kernel's.
    for (std::size_t words = 16; words <= 4096; words *= 2) {
        std::vector<unsigned long> mask(words);
        const std::size_t bytes = words * sizeof(unsigned long);
        if (::sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) {
            if (errno == EINVAL) continue;
            throw IoError("read the CPU mask", "sched_getaffinity", errno);
        }
        std::vector<std::uint32_t> cpus;
        constexpr std::size_t bits = 8 * sizeof(unsigned long);
        for (std::size_t cpu = 0; cpu < words * bits; ++cpu)
            if ((mask[cpu / bits] >> (cpu % bits) & 1U) != 0) cpus.push_back(static_cast<std::uint32_t>(cpu));
        return cpus;
    }
    throw IoError("read the CPU mask", "sched_getaffinity", EINVAL);
}

/// As many CPUs as the quota pays for. Containers that share a machine see one mask; the node's name decides
/// where each begins, so that they do not all crowd on the first CPUs.
std::vector<std::uint32_t> within_quota(std::vector<std::uint32_t> cpus, double quota,
                                        const std::string& node) {
    const auto count = static_cast<std::size_t>(std::max(1.0, std::ceil(quota)));
    if (count >= cpus.size()) return cpus;
    const auto begin = static_cast<std::ptrdiff_t>(std::hash<std::string>{}(node) % cpus.size());
    std::rotate(cpus.begin(), cpus.begin() + begin, cpus.end());
    cpus.resize(count);
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

std::uint64_t available_memory_bytes(const std::string& root) {
    constexpr std::string_view key = "MemAvailable:";
    try {
        for (const std::string& line : split(read_file(root + "/proc/meminfo"), '\n')) {
            if (line.compare(0, key.size(), key) != 0) continue;
            const std::size_t begin = std::min(line.find_first_of("0123456789"), line.size());
            std::uint64_t kibibytes = 0;
            std::from_chars(line.data() + begin, line.data() + line.size(), kibibytes);
            return kibibytes * 1024;
        }
    } catch (const IoError&) {
        return 0;
    }
    return 0;
}

/// The list that a site's profile names, or the first known one that is set, even if it is empty.
std::string chosen_variable(const Environment& environment, const InventoryOptions& options) {
    if (!options.visibility_variable.empty()) return options.visibility_variable;
    for (const std::string variable : visibility_variables)
        for (const std::string& entry : environment)
            if (entry.compare(0, variable.size() + 1, variable + "=") == 0) return variable;
    return {};
}

bool is_uuid(std::string_view entry) {
    return entry.substr(0, 4) == "GPU-" || entry.substr(0, 4) == "MIG-";
}

} // namespace

std::vector<std::string> visible_entries(std::string_view list) {
    std::vector<std::string> entries;
    if (list == "all") return entries; // names no device in particular
    for (const std::string& word : split(list, ',')) {
        const std::size_t begin = word.find_first_not_of(" \t");
        if (begin == std::string::npos) return entries;
        const std::string entry = word.substr(begin, word.find_last_not_of(" \t") - begin + 1);
        if (entry == "-1" || entry == "NoDevFiles" || entry == "none" || entry == "void") return entries;
        if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
    }
    return entries;
}

std::vector<std::uint32_t> parse_index_list(std::string_view text) {
    std::vector<std::uint32_t> indices;
    for (const std::string& range : split(text, ',')) {
        std::uint32_t first = 0;
        const char* const end = range.data() + range.size();
        const auto [rest, error] = std::from_chars(range.data(), end, first);
        if (error != std::errc{}) return {};
        std::uint32_t last = first;
        if (rest != end) {
            if (*rest != '-') return {};
            const auto [last_rest, last_error] = std::from_chars(rest + 1, end, last);
            if (last_error != std::errc{} || last_rest != end || last < first) return {};
        }
        if (last - first >= longest_index_list || indices.size() >= longest_index_list) return {};
        for (std::uint32_t index = first; index <= last; ++index)
            indices.push_back(index);
    }
    return indices;
}

std::vector<std::string> device_identities(const std::vector<std::string>& entries,
                                           std::string_view slurm_step_gpus) {
    const std::vector<std::uint32_t> step = parse_index_list(slurm_step_gpus);
    std::vector<std::string> identities;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!is_uuid(entries[i]) && step.size() == entries.size())
            identities.push_back(std::to_string(step[i]));
        else
            identities.push_back(entries[i]);
    }
    return identities;
}

Inventory take_inventory(const Environment& environment, const InventoryOptions& options) {
    Inventory inventory;
    NodeReport& report = inventory.report;
    report.host = host_name();
    report.boot_id = read_line(options.root + "/proc/sys/kernel/random/boot_id");
    report.node = node_identity(environment, report);

    const Cgroup cgroup = Cgroup::of_this_process(options.root);
    report.cpus = allowed_cpus();
    if (const std::optional<double> quota = cgroup.cpu_quota())
        report.cpus = within_quota(report.cpus, *quota, report.node);
    const std::uint64_t available_bytes = available_memory_bytes(options.root);
    report.memory_bytes = std::min(cgroup.memory_limit_bytes().value_or(available_bytes), available_bytes);

    const std::string variable = chosen_variable(environment, options);
    if (variable.empty()) return inventory;
    report.devices = visible_entries(find_variable(environment, variable));
    report.device_ids = device_identities(report.devices, find_variable(environment, "SLURM_STEP_GPUS"));
    if (variable == cuda_variable) report.device_locality = device_locality(report.device_ids, options.root);
    if (!report.devices.empty()) inventory.visibility_variable = variable;
    return inventory;
}

} // namespace tessera
