#pragma once

#include <tessera/campaign/plan.hpp>
#include <tessera/journal/records.hpp>
#include <tessera/scheduler/scheduler.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What earlier parts left of one step.
struct StepHistory {
    std::uint32_t generation = 1;                   ///< the current one
    bool succeeded = false;                         ///< has an accepted result of the current generation
    std::uint32_t attempts = 0;                     ///< of all generations
    std::map<FailureClass, std::uint32_t> failures; ///< of the current generation
};

/// Looks a step up; a step without history gives the default.
using History = std::function<StepHistory(const StepKey&)>;

/// What the user asked of one run.
struct RunRequest {
    std::optional<Expression> where;    ///< cells; all if absent
    std::optional<Expression> rerun;    ///< cells whose steps get a new generation
    std::optional<std::uint64_t> limit; ///< cells to start that have no verdict yet
    bool retry_failed = false;          ///< failures of earlier parts do not count
};

/// The steps and cells of one run.
struct RunSelection {
    struct SelectedStep {
        StepIndex step = 0;
        std::uint32_t generation = 1;
        std::uint32_t next_attempt = 1;
        StepEntry entry;
    };

    std::vector<CellIndex> cells; ///< what `where` selects: the planned ones
    std::vector<SelectedStep>
        steps; ///< of the cells to run and of those that have a result, with all that they need
    std::vector<InvalidatedRecord::Item>
        invalidated; ///< new generations of `rerun`, with those of dependants
};

/// Throws UserError if an expression names what no cell has or selects nothing.
void check_request(const Plan& plan, const RunRequest& request);

/// Decides what a run consists of. Throws UserError if an expression names what no cell has or selects
/// nothing.
RunSelection select_run(const Plan& plan, const RunRequest& request, const History& history);

} // namespace tessera
