#pragma once

#include <tessera/journal/log_pack.hpp>
#include <tessera/journal/records.hpp>
#include <tessera/worker/worker_identity.hpp>

#include <cstdint>
#include <string>

namespace tessera {

/// Moves the logs of ended attempts from their folders into the worker's pack.
class AttemptLogs {
public:
    AttemptLogs(const std::string& campaign_dir, const WorkerIdentity& worker);

    /// Closes the pack; a failure of the last sync costs logs, never results.
    ~AttemptLogs();

    AttemptLogs(const AttemptLogs&) = delete;
    AttemptLogs& operator=(const AttemptLogs&) = delete;

    /// Copies the logs in `folder`, of each the first `limit_bytes`, into the pack and says in `outcome`
    /// where they are. A silent attempt has none, and nothing is written. False if that failed: then they
    /// must stay where they are.
    bool keep(const std::string& folder, std::uint64_t limit_bytes, OutcomeRecord& outcome);

private:
    std::string pack_path_; ///< relative to the campaign directory
    LogPack pack_;
};

} // namespace tessera
