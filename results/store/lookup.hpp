#pragma once

#include <tessera/campaign/step_spec.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/store/store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Row of the current cell whose id begins with `prefix`. Throws UserError if there is none or more than one.
std::uint32_t find_cell(const Tables& tables, const std::string& prefix);

/// One attempt of a step, ended or not.
struct AttemptDetail {
    AttemptId id;
    Standing standing = Standing::open;
    std::uint32_t generation = 1;
    std::optional<OutcomeRecord> outcome; ///< with its metrics; absent while it is open
    std::string folder; ///< relative to the campaign directory: where its files are or will be; empty if they
                        ///< are gone
};

struct StepDetail {
    StepKey key;
    CellStatus status = CellStatus::pending;
    bool last = false; ///< the step that the cell ends with
    std::optional<StepSpec>
        spec; ///< absent until it was first dispatched, and if the store was opened without texts
    std::vector<AttemptDetail> attempts; ///< in the order of acceptance.hpp
};

/// All that is known of a cell, for `show` and `logs`.
struct CellDetail {
    CellId id;
    std::uint32_t repeat = 0;
    CellStatus status = CellStatus::pending;
    std::vector<std::pair<std::string, std::string>>
        axes;                      ///< name and value, as text, in the campaign's order
    std::vector<StepDetail> steps; ///< those it needs first, its last step at the end
};

CellDetail cell_detail(const Tables& tables, const Acceptance& acceptance, const CampaignState& state,
                       std::uint32_t cell);

/// The record of an attempts row, with its metrics.
OutcomeRecord outcome_record(const Tables& tables, std::uint32_t attempt);

/// How many of the current cells have each status, and of the failed ones how many each failure class and
/// message, the commonest first.
struct CampaignCounts {
    struct Failure {
        FailureClass failure = FailureClass::none;
        std::string message;
        std::uint64_t cells = 0;
        std::uint32_t example = 0; ///< row of one such cell
    };

    std::array<std::uint64_t, cell_status_names.size()> cells{}; ///< by CellStatus
    std::vector<Failure> failures;

    std::uint64_t of(CellStatus status) const { return cells[static_cast<std::size_t>(status)]; }
};

CampaignCounts count_cells(const Tables& tables, const CampaignState& state);

} // namespace tessera
