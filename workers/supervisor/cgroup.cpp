#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/text.hpp>
#include <tessera/supervisor/cgroup.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <sys/stat.h>
#include <vector>

namespace tessera {

namespace {

std::optional<std::string> read_if_there(const std::string& path) {
    try {
        return read_file(path);
    } catch (const IoError&) {
        return std::nullopt;
    }
}

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data()) return std::nullopt;
    return value;
}

/// The number after `key` in lines of "key number".
std::optional<std::uint64_t> counter(const std::string& path, std::string_view key) {
    const std::optional<std::string> text = read_if_there(path);
    if (!text) return std::nullopt;
    for (const std::string& line : split(*text, '\n')) {
        if (line.size() <= key.size() || line.compare(0, key.size(), key) != 0 || line[key.size()] != ' ')
            continue;
        const auto value = integer(std::string_view(line).substr(key.size() + 1));
        if (value && *value >= 0) return static_cast<std::uint64_t>(*value);
    }
    return std::nullopt;
}

bool has_word(std::string_view list, std::string_view word) {
    const std::vector<std::string> words = split(list, ',');
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// A container often sees its cgroup's path as the host names it while only the part below is mounted.
std::string visible_path(const std::string& mount, std::string path) {
    struct stat status {};

    while (!path.empty() && ::stat((mount + path).c_str(), &status) != 0)
        path.erase(path.rfind('/'));
    return path;
}

/// The smallest value that `read` finds in the cgroup's folder or in one above it.
template <typename T>
std::optional<T> smallest_upwards(const std::string& mount, std::string path,
                                  const std::function<std::optional<T>(const std::string&)>& read) {
    std::optional<T> smallest;
    for (;;) {
        if (const std::optional<T> value = read(mount + path))
            smallest = smallest ? std::min(*smallest, *value) : *value;
        if (path.empty()) return smallest;
        path.erase(path.rfind('/'));
    }
}

// Version 1 writes "no limit" as a number near 2^63.
constexpr std::int64_t unlimited_v1 = std::int64_t{1} << 60;

} // namespace

Cgroup Cgroup::of_this_process(const std::string& root) {
    Cgroup cgroup;
    cgroup.root_ = root;
    const std::string base = root + "/sys/fs/cgroup";
    for (const std::string& line : split(read_if_there(root + "/proc/self/cgroup").value_or(""), '\n')) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::string path = line.substr(second + 1);
        if (path == "/") path.clear();
        const auto place = [&path](std::string mount) { return Place{mount, visible_path(mount, path)}; };
        if (controllers.empty()) cgroup.unified_ = place(base);
        if (has_word(controllers, "memory")) cgroup.memory_v1_ = place(base + "/memory");
        if (has_word(controllers, "cpu")) cgroup.cpu_v1_ = place(base + "/cpu");
    }
    return cgroup;
}

std::optional<std::uint64_t> Cgroup::memory_limit_bytes() const {
    const auto reader = [](const char* file) {
        return [file](const std::string& folder) -> std::optional<std::uint64_t> {
            const auto value = integer(read_if_there(folder + file).value_or("max"));
            if (!value || *value <= 0 || *value >= unlimited_v1) return std::nullopt;
            return static_cast<std::uint64_t>(*value);
        };
    };
    if (!memory_v1_.mount.empty())
        return smallest_upwards<std::uint64_t>(memory_v1_.mount, memory_v1_.path,
                                               reader("/memory.limit_in_bytes"));
    if (!unified_.mount.empty())
        return smallest_upwards<std::uint64_t>(unified_.mount, unified_.path, reader("/memory.max"));
    return std::nullopt;
}

std::optional<double> Cgroup::cpu_quota() const {
    const auto ratio = [](std::optional<std::int64_t> quota,
                          std::optional<std::int64_t> period) -> std::optional<double> {
        if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
        return static_cast<double>(*quota) / static_cast<double>(*period);
    };
    if (!cpu_v1_.mount.empty()) {
        return smallest_upwards<double>(cpu_v1_.mount, cpu_v1_.path, [&](const std::string& folder) {
            return ratio(integer(read_if_there(folder + "/cpu.cfs_quota_us").value_or("")),
                         integer(read_if_there(folder + "/cpu.cfs_period_us").value_or("")));
        });
    }
    if (unified_.mount.empty()) return std::nullopt;
    return smallest_upwards<double>(unified_.mount, unified_.path, [&](const std::string& folder) {
        const std::vector<std::string> words = split(read_if_there(folder + "/cpu.max").value_or("max"), ' ');
        return words.size() < 2 ? std::nullopt : ratio(integer(words[0]), integer(words[1]));
    });
}

std::optional<std::uint64_t> Cgroup::oom_kills() const {
    if (!memory_v1_.mount.empty())
        return counter(memory_v1_.mount + memory_v1_.path + "/memory.oom_control", "oom_kill");
    if (!unified_.mount.empty())
        return counter(unified_.mount + unified_.path + "/memory.events", "oom_kill");
    return std::nullopt;
}

std::optional<std::uint64_t> Cgroup::machine_oom_kills() const {
    return counter(root_ + "/proc/vmstat", "oom_kill");
}

} // namespace tessera
