#pragma once

#include <tessera/base/table.hpp>
#include <tessera/campaign/plan.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Where steps run and what they may take at most.
struct PlanLoad {
    std::string accelerator; ///< empty if the campaign has none
    std::string executor;
    Resources resources; ///< of one step
    std::uint64_t steps = 0;
    std::uint64_t steps_without_timeout = 0;
    double timeout_s = 0; ///< sum over the steps that have one

    std::optional<double> device_hours() const;
    std::optional<double> core_hours() const;
};

/// What `tessera plan` shows of some cells of a plan.
class PlanView {
public:
    PlanView(const Plan& plan, std::vector<CellIndex> cells);

    const std::vector<CellIndex>& cells() const { return cells_; }

    /// The steps that these cells end with or need, each once.
    const std::vector<StepIndex>& steps() const { return steps_; }

    /// "12 cells (6 points, 2 repeats), 12 steps".
    std::string headline() const;
    TextTable axes_table() const;
    TextTable load_table() const;
    TextTable cells_table(bool commands) const;
    TextTable steps_table() const;

    /// `cells` is a count, or with `with_cells` the array of cells; `cell_count` is always the count.
    void write_json(std::ostream& out, bool with_cells, bool commands) const;

private:
    nlohmann::ordered_json head_json() const;
    std::string step_json(StepIndex step) const;
    std::string cell_json(CellIndex cell, bool commands) const;

    const Plan* plan_;
    std::vector<CellIndex> cells_;
    std::vector<StepIndex> steps_;
    std::vector<PlanLoad> loads_;
};

} // namespace tessera
