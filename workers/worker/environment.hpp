#pragma once

#include <tessera/journal/records.hpp>
#include <tessera/worker/executor.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// "NAME=value" entries.
using Environment = std::vector<std::string>;

/// Environment of this process.
Environment own_environment();

/// True for what a launcher sets for the rank only and what would mislead a cell: variables of MPI
/// implementations, of process managers, and Slurm's of the step and the task. The job's own, SLINGSHOT_ and
/// device variables stay.
bool is_rank_variable(std::string_view name);

/// Value of a variable; empty if it is not there.
std::string_view find_variable(const Environment& environment, std::string_view name);

/// What of a cell's environment depends on the attempt.
struct CellContext {
    AttemptId attempt;
    std::string folder;              ///< of the attempt, absolute; the cell's working directory
    std::string programs_folder;     ///< of Tessera's own programs
    std::string visibility_variable; ///< such as CUDA_VISIBLE_DEVICES; empty if the worker has no devices
};

/// The whole environment of a cell, as docs/cell-environment.md describes it: `base` without the rank's
/// variables, then what Tessera sets, then what the campaign declares. The campaign wins, but not over the
/// variables that name the attempt, by which its processes are recognised.
Environment cell_environment(const Environment& base, const StepSpec& spec, const CellContext& context,
                             const Placement& placement);

/// Files that Tessera puts into an attempt's folder; their names begin so that no cell's own collide with
/// them.
namespace attempt_file {
inline constexpr std::string_view standard_output = "tessera.stdout";
inline constexpr std::string_view standard_error = "tessera.stderr";
inline constexpr std::string_view metrics = "tessera.metrics.jsonl";
inline constexpr std::string_view axes = "tessera.axes.json";
inline constexpr std::string_view artifact = "tessera.artifact";
} // namespace attempt_file

} // namespace tessera
