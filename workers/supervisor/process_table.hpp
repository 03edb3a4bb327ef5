#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tessera {

struct ProcessEntry {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t session = 0;
    char state = '?';
    std::uint64_t start_ticks = 0; ///< since boot

    bool is_dead() const { return state == 'Z' || state == 'X'; }
};

/// How the processes of one attempt are recognised.
struct AttemptMark {
    std::string attempt;           ///< value of TESSERA_ATTEMPT
    pid_t leader = 0;              ///< the first process, also the id of its session; 0 if unknown
    bool leader_alive = false;     ///< not yet reaped: its process id is still its own
    std::uint64_t start_ticks = 0; ///< nothing of the attempt is older
};

/// All processes of the machine at one moment.
class ProcessTable {
public:
    using EnvironmentReader = std::function<std::string(pid_t)>;

    explicit ProcessTable(std::vector<ProcessEntry> entries, EnvironmentReader read_environment);

    static ProcessTable read();

    /// The living processes of attempt `index`: its session, descendants of its leader, whatever carries its
    /// TESSERA_ATTEMPT, and the descendants of these. A descendant of `supervisor` that shows none of these
    /// belongs to the last attempt in `attempts` of those that were there when it began: until then it may be
    /// another's.
    std::vector<ProcessEntry> members(std::span<const AttemptMark> attempts, std::size_t index,
                                      pid_t supervisor) const;

private:
    std::optional<std::size_t> owner(const ProcessEntry& process, std::span<const AttemptMark> attempts,
                                     pid_t supervisor) const;
    std::optional<std::size_t> own_mark(const ProcessEntry& process,
                                        std::span<const AttemptMark> attempts) const;
    const ProcessEntry* find(pid_t pid) const;
    const std::string& marker(pid_t pid) const;

    std::map<pid_t, ProcessEntry> entries_;
    EnvironmentReader read_environment_;
    mutable std::map<pid_t, std::string> markers_;
};

/// The direct children of this single-threaded process without a look at the whole machine; empty if the
/// kernel has no list of them.
std::optional<std::vector<pid_t>> own_children();

/// Now, in the unit of ProcessEntry::start_ticks.
std::uint64_t ticks_since_boot();

} // namespace tessera
