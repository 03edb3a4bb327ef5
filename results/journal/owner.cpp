#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/journal/owner.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>

#include <pwd.h>
#include <unistd.h>

namespace tessera {

namespace {

struct ProcessStatus {
    char state = '?';
    std::uint64_t start = 0;
};

/// Fields 3 and 22 of /proc/PID/stat (proc(5)); the second field may hold any characters up to the last ')'.
std::optional<ProcessStatus> process_status(std::int64_t pid) {
    std::string text;
    try {
        text = read_file(fmt::format("/proc/{}/stat", pid));
    } catch (const IoError&) {
        return std::nullopt;
    }
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(end + 1));
    ProcessStatus status;
    fields >> status.state;
    std::string skipped;
    for (int field = 4; field < 22; ++field)
        fields >> skipped;
    fields >> status.start;
    return fields ? std::optional(status) : std::nullopt;
}

bool runs(const OwnerInfo& owner) {
    const auto status = process_status(owner.pid);
    if (!status || status->start != owner.pid_start) return false;
    return status->state != 'Z' && status->state != 'X';
}

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string boot_id() {
    try {
        std::string id = read_file("/proc/sys/kernel/random/boot_id");
        while (!id.empty() && id.back() == '\n')
            id.pop_back();
        return id;
    } catch (const IoError&) {
        return {};
    }
}

std::string pid_namespace() {
    std::array<char, 64> target{};
    const ssize_t size = ::readlink("/proc/self/ns/pid", target.data(), target.size());
    return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

std::string user_name() {
    const passwd* entry = ::getpwuid(::getuid());
    return entry == nullptr ? fmt::format("{}", ::getuid()) : entry->pw_name;
}

} // namespace

OwnerInfo this_process(std::string part, WallTime now_ns) {
    OwnerInfo owner;
    owner.part = std::move(part);
    owner.host = host_name();
    owner.boot_id = boot_id();
    owner.pid_namespace = pid_namespace();
    owner.pid = ::getpid();
    owner.pid_start = process_status(owner.pid).value_or(ProcessStatus()).start;
    owner.job = environment("SLURM_JOB_ID");
    const std::string restarts = environment("SLURM_RESTART_COUNT");
    std::from_chars(restarts.data(), restarts.data() + restarts.size(), owner.restart_count);
    owner.user = user_name();
    owner.since_ns = now_ns;
    return owner;
}

OwnerState owner_state(const OwnerInfo& owner, const OwnerInfo& self) {
    // A requeued job starts only after its former run has ended everywhere.
    if (!owner.job.empty() && owner.job == self.job && owner.restart_count < self.restart_count)
        return OwnerState::gone;
    if (owner.boot_id.empty() || self.boot_id.empty()) return OwnerState::unknown;
    if (owner.boot_id != self.boot_id)
        return owner.host == self.host ? OwnerState::gone : OwnerState::unknown;
    if (owner.pid_namespace != self.pid_namespace) return OwnerState::unknown;
    return runs(owner) ? OwnerState::alive : OwnerState::gone;
}

std::string describe(const OwnerInfo& owner) {
    const std::string job = owner.job.empty() ? "" : fmt::format(" (Slurm job {})", owner.job);
    return fmt::format("pid {} of {} on {}{}, part {}, since {}", owner.pid, owner.user, owner.host, job,
                       owner.part, format_utc(owner.since_ns));
}

std::string to_text(const OwnerInfo& owner) {
    const nlohmann::ordered_json json = {{"part", owner.part},       {"host", owner.host},
                                         {"boot_id", owner.boot_id}, {"pid_namespace", owner.pid_namespace},
                                         {"pid", owner.pid},         {"pid_start", owner.pid_start},
                                         {"job", owner.job},         {"restart_count", owner.restart_count},
                                         {"user", owner.user},       {"since_ns", owner.since_ns}};
    return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

OwnerInfo parse_owner(std::string_view text, const std::string& source) {
    try {
        const auto json = nlohmann::json::parse(text);
        OwnerInfo owner;
        json.at("part").get_to(owner.part);
        json.at("host").get_to(owner.host);
        json.at("boot_id").get_to(owner.boot_id);
        owner.pid_namespace = json.value("pid_namespace", "");
        json.at("pid").get_to(owner.pid);
        json.at("pid_start").get_to(owner.pid_start);
        owner.job = json.value("job", "");
        owner.restart_count = json.value("restart_count", 0U);
        owner.user = json.value("user", "");
        owner.since_ns = json.value("since_ns", WallTime{0});
        return owner;
    } catch (const nlohmann::json::exception& error) {
        throw FormatError(source, 0, fmt::format("not an owner file: {}", error.what()));
    }
}

std::string format_utc(WallTime at_ns) {
    const std::time_t seconds = at_ns / 1'000'000'000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

} // namespace tessera
