#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/worker/attempt_logs.hpp>
#include <tessera/worker/environment.hpp>

#include <fmt/core.h>

#include <cerrno>

namespace tessera {

namespace {

std::string read_log(const std::string& folder, std::string_view name) {
    try {
        return read_file(fmt::format("{}/{}", folder, name));
    } catch (const IoError& error) {
        if (error.code == ENOENT) return {}; // the supervisor makes it with the first byte
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

bool AttemptLogs::keep(const std::string& folder, OutcomeRecord& outcome) {
    if (outcome.stdout_bytes == 0 && outcome.stderr_bytes == 0) return true;
    try {
        LogEntry entry;
        entry.attempt = outcome.attempt;
        entry.stdout_text = read_log(folder, attempt_file::standard_output);
        entry.stderr_text = read_log(folder, attempt_file::standard_error);
        outcome.log_pack_offset = pack_.append(entry);
        outcome.log_pack = pack_path_;
        return true;
    } catch (const Error&) {
        return false;
    }
}

} // namespace tessera
