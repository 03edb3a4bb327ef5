#pragma once

#include <tessera/store/event_tables.hpp>
#include <tessera/store/plan_tables.hpp>

#include <string>
#include <vector>

namespace tessera {

/// Results as columns: what a segment and results.h5 hold, and what queries read. Plain data; records are
/// added by TableBuilder. Texts are codes into `strings`, whose first entry is the empty text.
struct Tables {
    std::vector<std::string> strings{std::string()};
    PartTable parts; ///< /provenance
    DefinitionTable definitions;
    DefinitionCellTable definition_cells;
    CellTable cells;
    CellStepTable cell_steps;
    StepTable steps;
    StepNeedTable step_needs;
    DispatchTable dispatches;
    StartedTable started;
    AttemptTable attempts;
    MetricNameTable metric_names;
    MetricTable metrics;
    ClaimTable claims;
    InvalidationTable invalidations;
    CoverageTable coverage;

    const std::string& text(std::uint32_t code) const { return strings[code]; }

    /// Calls visit(path of its group, table) for each table. Tables stand after those that they refer to.
    template <typename Self, typename Visit>
    static void tables(Self& self, Visit&& visit) {
        visit("provenance", self.parts);
        visit("definitions", self.definitions);
        visit("steps", self.steps);
        visit("cells", self.cells);
        visit("definition_cells", self.definition_cells);
        visit("cell_steps", self.cell_steps);
        visit("step_needs", self.step_needs);
        visit("dispatches", self.dispatches);
        visit("started", self.started);
        visit("attempts", self.attempts);
        visit("metric_names", self.metric_names);
        visit("metrics", self.metrics);
        visit("claims", self.claims);
        visit("invalidations", self.invalidations);
        visit("coverage", self.coverage);
    }
};

/// Equal in every column and bit by bit: NaN equals NaN.
bool identical(const Tables& a, const Tables& b);

} // namespace tessera
