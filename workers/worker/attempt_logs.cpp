#include <tessera/base/error.hpp>
#include <tessera/supervisor/cell_file.hpp>
#include <tessera/worker/attempt_logs.hpp>
#include <tessera/worker/environment.hpp>

#include <fmt/core.h>

#include <cerrno>

namespace tessera {

namespace {

/// Empty without a log: a silent process has none, and a cell may have removed it or put something else in
/// its place.
std::string read_log(const std::string& folder, std::string_view name, std::uint64_t limit_bytes) {
    try {
        return read_cell_file(fmt::format("{}/{}", folder, name), limit_bytes);
    } catch (const NotRegularFile&) {
        return {};
    } catch (const IoError& error) {
        if (error.code == ENOENT) return {};
        throw;
    }
}

} // namespace

AttemptLogs::AttemptLogs(const std::string& campaign_dir, const WorkerIdentity& worker)
    : pack_path_(fmt::format("parts/{}/logs-{}.pack", worker.part, worker.worker))
    , pack_(fmt::format("{}/parts/{}", campaign_dir, worker.part), worker.part, worker.worker) {}

AttemptLogs::~AttemptLogs() {
    try {
        pack_.close();
    } catch (const Error&) {
        return;
    }
}

bool AttemptLogs::keep(const std::string& folder, std::uint64_t limit_bytes, OutcomeRecord& outcome) {
    if (outcome.stdout_bytes == 0 && outcome.stderr_bytes == 0) return true;
    try {
        LogEntry entry;
        entry.attempt = outcome.attempt;
        entry.stdout_text = read_log(folder, attempt_file::standard_output, limit_bytes);
        entry.stderr_text = read_log(folder, attempt_file::standard_error, limit_bytes);
        if (entry.stdout_text.size() < outcome.stdout_bytes) outcome.stdout_truncated = true;
        if (entry.stderr_text.size() < outcome.stderr_bytes) outcome.stderr_truncated = true;
        outcome.log_pack_offset = pack_.append(entry);
        outcome.log_pack = pack_path_;
        return true;
    } catch (const Error&) {
        return false;
    }
}

} // namespace tessera
