#pragma once

#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/store/tables.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tessera {

enum class CellStatus : std::uint8_t { pending, running, waiting_site, blocked, succeeded, failed, skipped };

inline constexpr std::array<std::string_view, 7> cell_status_names{
    "pending", "running", "waiting_site", "blocked", "succeeded", "failed", "skipped"};

/// The acceptance function over all frames that the tables hold.
Acceptance acceptance_of(const Tables& tables);

/// What became of steps and cells; each column has one entry a row of the tables.
struct CampaignState {
    /// A step that failed but may be tried again counts as failed until it is; so does one whose last try
    /// timed out.
    Column<std::uint8_t> step_status;
    Column<std::uint32_t>
        step_accepted; ///< row of the attempt that is the step's result; null if there is none
    Column<std::uint32_t>
        step_last; ///< row of the accepted attempt, else of the last one of the current generation
    Column<std::uint8_t>
        cell_status; ///< CellStatus: that of its last step, but blocked if a step it needs has failed

    CellStatus status(std::size_t cell) const { return static_cast<CellStatus>(cell_status[cell]); }
};

/// `is_live` tells whether a part may still be running: only there an attempt without an outcome runs.
/// waiting_site and skipped are verdicts of a scheduler, which no record holds yet.
CampaignState campaign_state(const Tables& tables, const Acceptance& acceptance,
                             const std::function<bool(const std::string& part)>& is_live);

/// What results.h5 tells readers without Tessera, a row a cell: derived when the file is written, and never
/// read by us.
struct CellResultTable {
    Column<std::uint32_t> attempt; ///< row of the accepted attempt of its last step
    Column<std::uint8_t> status;
    Column<std::uint8_t> current; ///< 1 if the cell belongs to the current definition

    std::size_t size() const { return attempt.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"attempt", Refers::attempt, {}, true}, self.attempt);
        visit(ColumnInfo{"status", Refers::nothing, {}, false, cell_status_names}, self.status);
        visit(ColumnInfo{"current"}, self.current);
    }
};

CellResultTable cell_results(const Tables& tables, const CampaignState& state);

/// False if the part has ended: in order, or because its owner is provably gone.
bool part_may_run(const CampaignDirectory& directory, const std::string& part);

/// Row of the campaign's newest definition, of those that have all their cells if there is any; null if there
/// is none.
std::optional<std::uint32_t> current_definition(const Tables& tables);

/// Rows of the cells of the current definition, ordered by its axes, each in the order of its values, then by
/// repeat.
Column<std::uint32_t> current_cells(const Tables& tables);

/// Rows of CellTable::axes in the order of the current definition, which alone are shown.
std::vector<std::size_t> current_axes(const Tables& tables);

/// The place of each code of an axis in the current definition's order; codes that it lacks come last.
Column<std::uint32_t> code_ranks(const Tables& tables, const AxisColumn& axis);

} // namespace tessera
