#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// How far a run is, for whoever shows it. Cells are those that this run was asked for.
struct Progress {
    struct Running {
        std::uint32_t worker = 0;
        std::string what; ///< the step and the axes of its cell
        double elapsed_s = 0;
    };

    std::string part;  ///< that the run writes
    std::string phase; ///< "starting", "running", "stopping", "storing"
    std::uint64_t cells = 0;
    std::uint64_t succeeded = 0; ///< in earlier runs too
    std::uint64_t reused = 0;    ///< of these, already there when the run began
    std::uint64_t failed = 0;    ///< without a retry left, blocked ones included
    std::uint64_t active = 0;    ///< steps running now
    std::uint64_t workers = 0;
    double elapsed_s = 0;
    std::optional<double> remaining_s; ///< estimated from the rate so far
    std::vector<Running> running;      ///< the longest ones, at most eight
    std::vector<std::string> failures; ///< messages new since the snapshot before
};

/// One line of JSON without a line end.
std::string to_json(const Progress& progress);

/// Empty if `line` is not such a line.
std::optional<Progress> parse_progress(std::string_view line);

/// Marks a line of a rank's stdout as one of these.
inline constexpr std::string_view progress_prefix = "\x1eprogress ";

/// Marks the line with which rank 0 tells its exit code to a waiting `tessera run` if the run could not
/// begin, so that the launcher sees no failure of its own to report.
inline constexpr std::string_view refusal_prefix = "\x1erefused ";

} // namespace tessera
