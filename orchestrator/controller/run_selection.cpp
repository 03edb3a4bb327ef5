#include <tessera/base/error.hpp>
#include <tessera/controller/run_selection.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace tessera {

namespace {

/// Whether a step of this history will run again if asked to.
bool may_run(const StepHistory& history, const RetryPolicy& retry, bool retry_failed) {
    if (history.succeeded) return false;
    if (retry_failed) return true;
    return std::all_of(history.failures.begin(), history.failures.end(), [&](const auto& entry) {
        const auto limit = retry.limit(entry.first);
        return !limit || entry.second <= *limit;
    });
}

std::vector<CellIndex> matching(const Plan& plan, const Expression& expression, const char* option) {
    std::vector<CellIndex> cells = plan.select(expression);
    if (cells.empty())
        throw UserError(fmt::format("{} selects no cell; `tessera plan --cells` lists them", option));
    return cells;
}

class Selector {
public:
    Selector(const Plan& plan, const RunRequest& request, const History& history)
        : plan_(plan)
        , request_(request)
        , history_(history)
        , taken_(plan.step_count(), false) {}

    RunSelection run() {
        select_cells();
        raise_generations();
        std::uint64_t started = 0;
        for (const CellIndex cell : out_.cells) {
            const bool open = cell_is_open(cell);
            if (open && request_.limit && started >= *request_.limit) continue;
            started += open ? 1 : 0;
            for (const StepIndex step : plan_.other_steps(cell))
                take(step);
            take(plan_.last_step(cell));
        }
        return std::move(out_);
    }

private:
    void select_cells() {
        if (request_.where) {
            out_.cells = matching(plan_, *request_.where, "--where");
            return;
        }
        out_.cells.resize(plan_.cell_count());
        std::iota(out_.cells.begin(), out_.cells.end(), CellIndex{0});
    }

    void raise_generations() {
        if (!request_.rerun) return;
        for (const CellIndex cell : matching(plan_, *request_.rerun, "--rerun")) {
            // A step shared with cells that are not selected is left alone: only the last one is the cell's
            // own.
            const StepIndex step = plan_.last_step(cell);
            const StepHistory before = history_of(step);
            if (before.attempts == 0 || raised_.count(step) > 0) continue;
            raised_[step] = before.generation + 1;
            out_.invalidated.push_back({plan_.step_key(step), before.generation + 1});
        }
    }

    bool cell_is_open(CellIndex cell) {
        const StepIndex step = plan_.last_step(cell);
        return raised_.count(step) > 0 || may_run(history_of(step), plan_.retry(step), request_.retry_failed);
    }

    void take(StepIndex step) {
        if (taken_[step]) return;
        taken_[step] = true;
        StepHistory before = history_of(step);
        if (const auto raised = raised_.find(step); raised != raised_.end()) {
            before.generation = raised->second;
            before.succeeded = false;
            before.failures.clear();
        }
        RunSelection::SelectedStep selected;
        selected.step = step;
        selected.generation = before.generation;
        selected.next_attempt = before.attempts + 1;
        selected.entry.resources = plan_.resources(step);
        selected.entry.retry = plan_.retry(step);
        const auto needs = plan_.needs(step);
        selected.entry.needs.assign(needs.begin(), needs.end());
        selected.entry.succeeded = before.succeeded;
        if (!request_.retry_failed) selected.entry.failures = std::move(before.failures);
        out_.steps.push_back(std::move(selected));
    }

    StepHistory history_of(StepIndex step) const { return history_(plan_.step_key(step)); }

    const Plan& plan_;
    const RunRequest& request_;
    const History& history_;
    std::vector<bool> taken_;
    std::map<StepIndex, std::uint32_t> raised_;
    RunSelection out_;
};

} // namespace

void check_request(const Plan& plan, const RunRequest& request) {
    if (request.where) matching(plan, *request.where, "--where");
    if (request.rerun) matching(plan, *request.rerun, "--rerun");
}

RunSelection select_run(const Plan& plan, const RunRequest& request, const History& history) {
    return Selector(plan, request, history).run();
}

} // namespace tessera
