#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/supervisor/process_table.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr std::string_view marker_name = "TESSERA_ATTEMPT=";

std::optional<std::string> read_proc(pid_t pid, const char* file) {
    try {
        return read_file("/proc/" + std::to_string(pid) + file);
    } catch (const IoError&) {
        return std::nullopt; // it ended meanwhile, or is another user's
    }
}

std::optional<ProcessEntry> read_entry(pid_t pid) {
    const std::optional<std::string> text = read_proc(pid, "/stat");
    if (!text) return std::nullopt;
    // The command's name in parentheses may hold anything, also parentheses: the fields begin after the last
    // one.
    const std::size_t name_end = text->rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    ProcessEntry entry;
    entry.pid = pid;
    unsigned long long start = 0;
    const int fields =
        std::sscanf(text->c_str() + name_end + 1,
                    " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                    &entry.state, &entry.parent, &entry.session, &start);
    if (fields != 4) return std::nullopt;
    entry.start_ticks = start;
    return entry;
}

/// The value of TESSERA_ATTEMPT in an environment as /proc shows it.
std::string find_marker(std::string_view environment) {
    while (!environment.empty()) {
        const std::size_t end = std::min(environment.find('\0'), environment.size());
        const std::string_view entry = environment.substr(0, end);
        if (entry.substr(0, marker_name.size()) == marker_name)
            return std::string(entry.substr(marker_name.size()));
        environment.remove_prefix(std::min(end + 1, environment.size()));
    }
    return {};
}

} // namespace

ProcessTable::ProcessTable(std::vector<ProcessEntry> entries, EnvironmentReader read_environment)
    : read_environment_(std::move(read_environment)) {
    for (const ProcessEntry& entry : entries)
        entries_.emplace(entry.pid, entry);
}

ProcessTable ProcessTable::read() {
    std::vector<ProcessEntry> entries;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
    while (const dirent* item = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string_view name = item->d_name;
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error != std::errc{} || end != name.data() + name.size()) continue;
        if (const auto entry = read_entry(pid)) entries.push_back(*entry);
    }
    return ProcessTable(std::move(entries),
                        [](pid_t pid) { return read_proc(pid, "/environ").value_or(""); });
}

const ProcessEntry* ProcessTable::find(pid_t pid) const {
    const auto found = entries_.find(pid);
    return found == entries_.end() ? nullptr : &found->second;
}

const std::string& ProcessTable::marker(pid_t pid) const {
    const auto found = markers_.find(pid);
    if (found != markers_.end()) return found->second;
    return markers_.emplace(pid, find_marker(read_environment_(pid))).first->second;
}

std::optional<std::size_t> ProcessTable::own_mark(const ProcessEntry& process,
                                                  std::span<const AttemptMark> attempts) const {
    for (std::size_t i = 0; i < attempts.size(); ++i)
        if (attempts[i].leader_alive && attempts[i].leader == process.pid) return i;
    for (std::size_t i = 0; i < attempts.size(); ++i)
        if (attempts[i].leader > 0 && attempts[i].leader == process.session) return i;
    const std::string& value = marker(process.pid);
    if (value.empty()) return std::nullopt;
    for (std::size_t i = 0; i < attempts.size(); ++i)
        if (attempts[i].attempt == value) return i;
    return std::nullopt;
}

std::optional<std::size_t> ProcessTable::owner(const ProcessEntry& process,
                                               std::span<const AttemptMark> attempts,
                                               pid_t supervisor) const {
    std::vector<const ProcessEntry*> line; // the process, its parent, ... up to the supervisor's child
    const ProcessEntry* at = &process;
    while (at != nullptr && at->pid != supervisor && line.size() < entries_.size()) {
        line.push_back(at);
        at = find(at->parent);
    }
    const bool is_descendant = at != nullptr && at->pid == supervisor;
    if (!is_descendant) return own_mark(process, attempts);
    for (const ProcessEntry* ancestor : line)
        if (const auto index = own_mark(*ancestor, attempts)) return index;

    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        if (attempts[i].start_ticks > line.back()->start_ticks) continue;
        if (last) return std::nullopt; // several could own it
        last = i;
    }
    return last;
}

std::vector<ProcessEntry> ProcessTable::members(std::span<const AttemptMark> attempts, std::size_t index,
                                                pid_t supervisor) const {
    std::vector<ProcessEntry> result;
    for (const auto& [pid, entry] : entries_) {
        if (pid == supervisor || entry.is_dead()) continue;
        if (owner(entry, attempts, supervisor) == index) result.push_back(entry);
    }
    return result;
}

std::optional<std::vector<pid_t>> own_children() {
    const std::string self = std::to_string(::getpid());
    std::string text;
    try {
        text = read_file("/proc/self/task/" + self + "/children");
    } catch (const IoError&) {
        return std::nullopt;
    }
    std::vector<pid_t> children;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (at < end) {
        pid_t pid = 0;
        const auto [next, error] = std::from_chars(at, end, pid);
        if (error != std::errc{}) break;
        children.push_back(pid);
        at = next + 1;
    }
    return children;
}

std::uint64_t ticks_since_boot() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    static const auto ticks_a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return static_cast<std::uint64_t>(now.tv_sec) * ticks_a_second +
           static_cast<std::uint64_t>(now.tv_nsec) * ticks_a_second / 1'000'000'000ULL;
}

} // namespace tessera
