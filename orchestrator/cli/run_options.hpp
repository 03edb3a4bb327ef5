#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// The arguments of `tessera run`, which its ranks get too.
struct RunOptions {
    std::string campaign; ///< path of the file
    std::string dir;      ///< campaign directory; empty: ./<campaign name>
    std::optional<std::uint32_t> workers;
    std::string where;
    std::string rerun;
    std::optional<std::uint64_t> limit;
    bool retry_failed = false;
    bool controller_only = false;
    std::string mpi;        ///< which implementation; empty: the first that works
    std::string progress;   ///< "auto", "repaint", "plain" or "json"
    std::string for_parent; ///< the name that the `tessera run` which started this rank calls the run by: it
                            ///< shows the progress and takes the exit code from the verdict
    bool help_shown = false;
};

/// Throws UserError.
RunOptions parse_run_options(const std::vector<std::string>& args);

/// The arguments that give the same options back.
std::vector<std::string> to_arguments(const RunOptions& options);

} // namespace tessera
