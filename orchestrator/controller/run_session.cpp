#include <tessera/base/fd.hpp>
#include <tessera/controller/definitions.hpp>
#include <tessera/controller/run_session.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace tessera {

namespace {

/// Attempts that went down with their whole run, as another run found out. They do not count against the
/// step: what was running when a job's time was up or its node died would be given up after a few jobs.
std::uint32_t lost_with_their_run(const Acceptance& acceptance, const StepKey& key,
                                  std::uint32_t generation) {
    std::uint32_t count = 0;
    for (const AttemptView& attempt : acceptance.attempts(key))
        if (attempt.generation == generation && attempt.kind == OutcomeKind::lost && attempt.outcome &&
            attempt.outcome->part != attempt.id.part)
            ++count;
    return count;
}

} // namespace

StepHistory step_history(const Acceptance& acceptance, const StepKey& key) {
    const StepView view = acceptance.step(key);
    StepHistory history;
    history.generation = view.generation;
    history.succeeded = view.accepted.has_value();
    history.attempts = view.highest_number;
    for (std::size_t i = 0; i < view.failures.size(); ++i)
        if (view.failures[i] > 0) history.failures[static_cast<FailureClass>(i)] = view.failures[i];
    if (const auto lost = history.failures.find(FailureClass::lost); lost != history.failures.end())
        lost->second -= lost_with_their_run(acceptance, key, view.generation);
    return history;
}

RunSession::RunSession(const Plan& plan, const std::string& dir, const RunRequest& request,
                       const std::vector<std::string>& command_line, const Clock& clock, const Pause& pause)
    : plan_(plan)
    , clock_(clock)
    , directory_(CampaignDirectory::open_or_create(dir, plan.campaign().name))
    , part_(directory_, command_line, clock, pause) {
    replay();
    harvest_dead_parts();
    selection_ =
        select_run(plan_, request, [&](const StepKey& key) { return step_history(acceptance_, key); });
    define_campaign();
    invalidate();
    part_.journal().sync();
}

void RunSession::append(const Record& record) {
    acceptance_.add({part_.id(), part_.journal().append(record)}, record);
}

void RunSession::replay() {
    std::map<std::string, std::uint64_t> cells_by_part;
    summary_ = read_campaign(directory_, [&](const FramePosition& position, Record&& record) {
        if (position.part == part_.id()) return;
        acceptance_.add(position, record);
        const auto* definition = std::get_if<DefinitionRecord>(&record);
        if (definition == nullptr) return;
        if (const auto* campaign = std::get_if<CampaignDefinition>(definition)) defined_ = campaign->digest;
        if (const auto* cells = std::get_if<CellBatch>(definition))
            if (cells->definition == plan_.digest()) {
                std::uint64_t& written = cells_by_part[position.part];
                written += cells->ids.size();
                defined_cells_ = std::max(defined_cells_, written);
            }
    });
    for (const ReadWarning& warning : summary_.warnings)
        if (!warning.torn_tail) notices_.push_back(warning.text());
}

void RunSession::harvest_dead_parts() {
    const OwnerInfo self = this_process(part_.id(), clock_.wall_ns());
    Harvest found = harvest(directory_, summary_, acceptance_, self);
    for (OutcomeRecord& outcome : found.outcomes)
        append(outcome);
    for (OutcomeRecord& outcome : found.lost) {
        outcome.ended_ns = clock_.wall_ns();
        append(outcome);
    }
    for (const ReadWarning& warning : found.warnings)
        if (!warning.torn_tail) notices_.push_back(warning.text());
    if (!found.outcomes.empty())
        notices_.push_back(
            fmt::format("{} finished attempts of an interrupted run were taken from its workers' spools",
                        found.outcomes.size()));
    if (!found.lost.empty())
        notices_.push_back(fmt::format("{} attempts of an interrupted run are lost", found.lost.size()));
}

void RunSession::define_campaign() {
    if (defined_ != plan_.digest()) {
        const std::string snapshot =
            directory_.save_snapshot(read_file(plan_.campaign().path), plan_.digest());
        append(DefinitionRecord(campaign_definition(plan_, snapshot)));
    }
    if (defined_cells_ < plan_.cell_count())
        for_each_cell_batch(
            plan_, [&](CellBatch batch) { part_.journal().append(DefinitionRecord(std::move(batch))); });
}

void RunSession::invalidate() {
    if (selection_.invalidated.empty()) return;
    append(InvalidatedRecord{selection_.invalidated, "run --rerun", part_.user(), clock_.wall_ns()});
}

} // namespace tessera
