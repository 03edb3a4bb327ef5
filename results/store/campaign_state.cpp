#include <tessera/store/campaign_state.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace tessera {

namespace {

void add_claims(const Tables& tables, Acceptance& acceptance) {
    const ClaimTable& claims = tables.claims;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        ClaimRecord record;
        record.claim = {tables.text(claims.batch[i]), claims.epoch[i]};
        record.predecessor = tables.text(claims.predecessor[i]);
        record.last_honoured = claims.last_honoured[i];
        acceptance.add({tables.text(tables.parts.part[claims.part[i]]), claims.sequence[i]}, record);
    }
}

void add_invalidations(const Tables& tables, Acceptance& acceptance) {
    const InvalidationTable& rows = tables.invalidations;
    InvalidatedRecord record;
    for (std::size_t i = 0; i < rows.size(); ++i)
        record.items.push_back({tables.steps.key[rows.step[i]], rows.generation[i]});
    acceptance.add(record);
}

void add_dispatches(const Tables& tables, Acceptance& acceptance) {
    const DispatchTable& rows = tables.dispatches;
    DispatchedRecord record;
    record.items.resize(1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        record.claim = {tables.text(rows.batch[i]), rows.epoch[i]};
        record.items[0].step = tables.steps.key[rows.step[i]];
        record.items[0].number = rows.number[i];
        record.items[0].generation = rows.generation[i];
        acceptance.add({tables.text(tables.parts.part[rows.part[i]]), rows.sequence[i]}, record);
    }
}

void add_outcomes(const Tables& tables, Acceptance& acceptance) {
    const AttemptTable& rows = tables.attempts;
    OutcomeRecord record;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        record.attempt.part = tables.text(tables.parts.part[rows.part[i]]);
        record.attempt.step = tables.steps.key[rows.step[i]];
        record.attempt.number = rows.number[i];
        record.generation = rows.generation[i];
        record.claim.batch = tables.text(rows.batch[i]);
        record.claim.epoch = rows.epoch[i];
        record.kind = static_cast<OutcomeKind>(rows.outcome[i]);
        record.failure = static_cast<FailureClass>(rows.failure[i]);
        acceptance.add({tables.text(tables.parts.part[rows.recorded_part[i]]), rows.recorded_sequence[i]},
                       record);
    }
}

/// Finds the rows of a step's attempts.
class AttemptRows {
public:
    explicit AttemptRows(const Tables& tables)
        : tables_(tables)
        , first_(tables.steps.size(), null_code)
        , next_(tables.attempts.size(), null_code) {
        for (std::size_t i = tables.attempts.size(); i > 0; --i) {
            std::uint32_t& first = first_[tables.attempts.step[i - 1]];
            next_[i - 1] = first;
            first = static_cast<std::uint32_t>(i - 1);
        }
    }

    std::uint32_t find(std::uint32_t step, const std::optional<AttemptView>& view) const {
        if (!view || !view->outcome) return null_code;
        const AttemptTable& attempts = tables_.attempts;
        for (std::uint32_t row = first_[step]; row != null_code; row = next_[row])
            if (attempts.recorded_sequence[row] == view->outcome->sequence &&
                tables_.text(tables_.parts.part[attempts.recorded_part[row]]) == view->outcome->part)
                return row;
        return null_code;
    }

private:
    const Tables& tables_;
    Column<std::uint32_t> first_;
    Column<std::uint32_t> next_;
};

bool runs(const Acceptance& acceptance, const StepKey& key, const StepView& view,
          const std::function<bool(const std::string&)>& is_live) {
    if (view.open == 0) return false;
    const auto attempts = acceptance.attempts(key);
    return std::any_of(attempts.begin(), attempts.end(), [&](const AttemptView& attempt) {
        return attempt.standing == Standing::open && attempt.generation == view.generation &&
               is_live(attempt.id.part);
    });
}

CellStatus step_status(const Acceptance& acceptance, const StepKey& key, const StepView& view,
                       const std::function<bool(const std::string&)>& is_live) {
    if (view.accepted) return CellStatus::succeeded;
    if (runs(acceptance, key, view, is_live)) return CellStatus::running;
    const bool failed =
        view.last && (view.last->kind == OutcomeKind::failed || view.last->kind == OutcomeKind::timed_out);
    return failed ? CellStatus::failed : CellStatus::pending;
}

} // namespace

Acceptance acceptance_of(const Tables& tables) {
    Acceptance acceptance;
    add_claims(tables, acceptance);
    add_invalidations(tables, acceptance);
    add_dispatches(tables, acceptance);
    add_outcomes(tables, acceptance);
    return acceptance;
}

CampaignState campaign_state(const Tables& tables, const Acceptance& acceptance,
                             const std::function<bool(const std::string& part)>& is_live) {
    std::map<std::string, bool> known;
    const auto live = [&](const std::string& part) {
        const auto [entry, added] = known.try_emplace(part, false);
        if (added) entry->second = is_live(part);
        return entry->second;
    };
    const AttemptRows rows(tables);
    CampaignState state;
    for (std::uint32_t step = 0; step < tables.steps.size(); ++step) {
        const StepKey& key = tables.steps.key[step];
        const StepView view = acceptance.step(key);
        state.step_status.push_back(static_cast<std::uint8_t>(step_status(acceptance, key, view, live)));
        state.step_accepted.push_back(rows.find(step, view.accepted));
        state.step_last.push_back(view.accepted ? state.step_accepted.back() : rows.find(step, view.last));
    }
    constexpr auto failed = static_cast<std::uint8_t>(CellStatus::failed);
    constexpr auto succeeded = static_cast<std::uint8_t>(CellStatus::succeeded);
    for (const std::uint32_t step : tables.cells.last_step)
        state.cell_status.push_back(state.step_status[step]);
    for (std::size_t i = 0; i < tables.cell_steps.size(); ++i) {
        std::uint8_t& status = state.cell_status[tables.cell_steps.cell[i]];
        const bool needs_failed =
            tables.cell_steps.last[i] == 0 && state.step_status[tables.cell_steps.step[i]] == failed;
        if (needs_failed && status != succeeded) status = static_cast<std::uint8_t>(CellStatus::blocked);
    }
    return state;
}

CellResultTable cell_results(const Tables& tables, const CampaignState& state) {
    CellResultTable results;
    for (const std::uint32_t step : tables.cells.last_step)
        results.attempt.push_back(state.step_accepted[step]);
    results.status = state.cell_status;
    results.current.assign(tables.cells.size(), 0);
    for (const std::uint32_t cell : current_cells(tables))
        results.current[cell] = 1;
    return results;
}

bool part_may_run(const CampaignDirectory& directory, const std::string& part) {
    if (directory.verdict(part)) return false;
    const auto owner = directory.owner(part);
    return owner && owner_state(*owner, this_process(part, 0)) != OwnerState::gone;
}

} // namespace tessera
