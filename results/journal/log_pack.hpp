#pragma once

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/journal/file_layer.hpp>
#include <tessera/journal/frame.hpp>
#include <tessera/journal/records.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// What one attempt printed.
struct LogEntry {
    AttemptId attempt;
    std::string stdout_text;
    std::string stderr_text;

    bool operator==(const LogEntry&) const = default;
};

/// Type of the only frames in a pack; apart from the journal's FrameType.
inline constexpr std::uint16_t log_entry_frame = 0x100;

/// Gathers the logs of one worker's succeeded attempts in one file, logs-<worker>.pack in the part's folder:
/// quotas count inodes. The file is made by the first entry. The first failure ends the pack for good: every
/// later call throws it.
class LogPack {
public:
    LogPack(const std::string& part_folder, std::string_view part, std::uint32_t worker,
            FileLayer& files = system_files());

    /// Returns the offset to read the entry at. Throws IoError; FormatError if the entry is above 256 MiB,
    /// which leaves the pack usable.
    std::uint64_t append(const LogEntry& entry);

    /// Throws IoError.
    void sync();

    /// sync() and close. Throws IoError.
    void close();

    const std::string& path() const { return path_; }

private:
    template <typename Work>
    void guarded(Work work);

    const std::string path_;
    const StreamId stream_;
    FileLayer& files_;
    UniqueFd file_;
    std::uint64_t sequence_ = 0;
    std::uint64_t size_ = 0;
    bool dirty_ = false;
    std::optional<IoError> failure_;
    std::string buffer_;
};

/// The entry that append() put at `offset` of the pack at `path`. Throws IoError, FormatError if no good
/// entry is there.
LogEntry read_log_entry(const std::string& path, std::uint64_t offset);

/// All entries of the pack at `path` of `part` that can be read, with their offsets; returns what cannot.
/// Throws IoError.
std::vector<Damage> scan_log_pack(const std::string& path, std::string_view part,
                                  const std::function<void(std::uint64_t offset, LogEntry&&)>& visit);

} // namespace tessera
