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

/// A worker's own record of how its attempts ended, written before it reports them, so that a dead controller
/// costs no finished attempt. One write an outcome protects against the death of the process; sync(), now and
/// then, against that of the machine. The file is made by the first outcome.
///
/// The first failure ends the spool for good: every later call throws it again.
class Spool {
public:
    Spool(const std::string& part_folder, std::string_view part, std::uint32_t worker,
          FileLayer& files = system_files());

    /// Throws IoError.
    void append(const OutcomeRecord& record);

    /// Throws IoError.
    void sync();

    /// sync() and close. Throws IoError.
    void close();

private:
    template <typename Work>
    void guarded(Work work);

    const std::string path_;
    const StreamId stream_;
    FileLayer& files_;
    UniqueFd file_;
    std::uint64_t sequence_ = 0;
    bool dirty_ = false;
    std::optional<IoError> failure_;
    std::string buffer_;
};

/// All outcomes in the spool at `path` of `part` that can be read; returns what cannot. Throws IoError if the
/// file cannot be read at all.
std::vector<Damage> read_spool(const std::string& path, std::string_view part,
                               const std::function<void(OutcomeRecord&&)>& visit);

} // namespace tessera
