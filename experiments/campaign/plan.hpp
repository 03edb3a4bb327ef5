#pragma once

#include <tessera/base/id.hpp>
#include <tessera/base/value.hpp>
#include <tessera/campaign/campaign.hpp>
#include <tessera/campaign/expression.hpp>
#include <tessera/campaign/matrix.hpp>
#include <tessera/campaign/step_spec.hpp>
#include <tessera/campaign/step_table.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

class StepCompiler;

using CellIndex = std::uint32_t;
using StepIndex = std::uint32_t;

/// What a campaign will run: its cells and the steps that they share, both by index. Cells are numbered point
/// by point of the matrix, the repeats of a point side by side; steps in the order in which cells first need
/// them. A cell keeps its id, and a step its key, however the file is written; indices hold for this object
/// only.
///
/// Nothing but ids and keys is stored per cell: codes and resolved steps are computed on demand, so that a
/// plan of 10^6 cells takes some tens of megabytes. Immutable, so it may be read from several threads.
class Plan {
public:
    /// Resolves and checks every step. Throws CampaignError with all problems found: placeholders without a
    /// value, wrong types in the final text, axes that change nothing, duplicate points, places that do not
    /// exist.
    static Plan make(Campaign campaign);

    /// Reads, parses and plans a campaign file. Throws CampaignError.
    static Plan load(const std::string& path) { return make(load_campaign(path)); }

    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;
    ~Plan();

    const Campaign& campaign() const;
    const Matrix& matrix() const;

    /// Names what the campaign file means: its name, axes with values and fields, and cells, each in order.
    const Id128& digest() const { return digest_; }

    /// Things worth telling that stop nothing.
    const std::vector<Diagnostic>& warnings() const { return warnings_; }

    // Cells
    CellIndex cell_count() const { return static_cast<CellIndex>(cell_ids_.size()); }

    const CellId& cell_id(CellIndex cell) const { return cell_ids_[cell]; }

    /// Counts from 0.
    std::uint32_t repeat(CellIndex cell) const { return cell % repeats_; }

    /// 0 if the axis is unset in this cell, else 1 + the index of its value in matrix().axes()[axis].values.
    std::uint32_t code(CellIndex cell, std::size_t axis) const {
        return matrix().code(cell / repeats_, axis);
    }

    /// The step that the cell ends with; its result is the cell's result.
    StepIndex last_step(CellIndex cell) const { return last_steps_[cell]; }

    /// The further steps that the cell needs, directly or not, in an order in which they can run.
    std::span<const StepIndex> other_steps(CellIndex cell) const;

    /// The value of an axis ("x"), a field of its definition ("model.revision"), "repeat", "cell" or "step";
    /// empty if it is unset or not there.
    std::optional<Value> value(CellIndex cell, const Reference& reference) const;

    /// Axes, and fields of definitions as "axis.field", of one cell as a JSON object.
    std::string axes_json(CellIndex cell) const;

    /// The cells that an expression over axes, fields, repeat, cell and step matches, in ascending order.
    /// Throws UserError with a suggestion for a name that no cell has.
    std::vector<CellIndex> select(const Expression& expression) const;

    /// The cell whose id starts with these hexadecimal digits, if exactly one does.
    std::optional<CellIndex> find_cell(std::string_view id_prefix) const;

    // Steps
    StepIndex step_count() const { return steps_.size(); }

    const StepKey& step_key(StepIndex step) const { return steps_.key(step); }

    std::optional<StepIndex> find_step(const StepKey& key) const { return steps_.find(key); }

    /// The step with every placeholder resolved.
    StepSpec resolve(StepIndex step) const;

    /// What the scheduler needs of a step; cheaper than resolve().
    Resources resources(StepIndex step) const;
    std::optional<double> timeout_s(StepIndex step) const;
    std::string executor(StepIndex step) const;
    std::string accelerator(StepIndex step) const;

    /// Limits of retries of a step.
    const RetryPolicy& retry(StepIndex step) const;

    /// The steps whose artifacts a step reads.
    std::span<const StepIndex> needs(StepIndex step) const;

    /// The cells that end with or need a step, ascending.
    std::span<const CellIndex> cells_of(StepIndex step) const;

private:
    friend class PlanBuilder;
    explicit Plan(std::unique_ptr<const StepCompiler> compiler);

    std::vector<std::uint32_t> codes(CellIndex cell) const;

    CellIndex first_cell(StepIndex step) const { return cells_by_step_[first_of_step_[step]]; }

    nlohmann::json axes_of(CellIndex cell, bool with_labels) const;
    std::vector<bool> truth_by_code(const Comparison& comparison, std::size_t axis) const;

    std::unique_ptr<const StepCompiler> compiler_; ///< owns the campaign and the matrix
    std::uint32_t repeats_ = 1;
    std::vector<CellId> cell_ids_;
    std::vector<StepIndex> last_steps_; ///< by cell
    StepKeyTable steps_;
    std::vector<std::uint32_t> first_of_step_; ///< into cells_by_step_, one more than steps
    std::vector<CellIndex> cells_by_step_;
    std::vector<Diagnostic> warnings_;
    Id128 digest_;
};

} // namespace tessera
