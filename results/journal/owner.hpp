#pragma once

#include <tessera/base/clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// The controller that a part belongs to, with all that tells whether it still lives.
struct OwnerInfo {
    std::string part;
    std::string host;
    std::string boot_id;       ///< /proc/sys/kernel/random/boot_id
    std::string pid_namespace; ///< as /proc/self/ns/pid names it; `pid` means nothing outside it
    std::int64_t pid = 0;
    std::uint64_t pid_start =
        0;           ///< in clock ticks after boot, so that a reused pid is not taken for the owner
    std::string job; ///< Slurm's job id, empty outside Slurm
    std::uint32_t restart_count = 0; ///< Slurm's: 0 at the first run of a job
    std::string user;
    WallTime since_ns = 0;

    bool operator==(const OwnerInfo&) const = default;
};

enum class OwnerState : std::uint8_t {
    alive,
    gone,    ///< provably: its boot or its process has ended, or Slurm has started its job anew
    unknown, ///< on another host: only its beats can tell
};

/// This process as the owner of `part`.
OwnerInfo this_process(std::string part, WallTime now_ns);

/// `self` is the process that asks.
OwnerState owner_state(const OwnerInfo& owner, const OwnerInfo& self);

/// "pid 4711 on node17 (Slurm job 88), part 2026..., since 2026-01-01T12:00:00Z".
std::string describe(const OwnerInfo& owner);

/// JSON, as owner files hold it.
std::string to_text(const OwnerInfo& owner);

/// Throws FormatError naming `source`.
OwnerInfo parse_owner(std::string_view text, const std::string& source);

/// "2026-01-01T12:00:00Z" (UTC).
std::string format_utc(WallTime at_ns);

} // namespace tessera
