#pragma once

#include <tessera/campaign/plan.hpp>
#include <tessera/controller/claimed_part.hpp>
#include <tessera/controller/controller.hpp>
#include <tessera/controller/run_selection.hpp>
#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/replay.hpp>

#include <string>
#include <vector>

namespace tessera {

/// Everything of one run that is on disk: claims the campaign for a new part, reads what earlier parts left,
/// harvests what dead ones could not record, and journals what this run means. Made before any worker is
/// welcomed.
class RunSession {
public:
    /// Throws UserError if another run has the campaign or the directory is not this campaign's.
    RunSession(const Plan& plan, const std::string& dir, const RunRequest& request,
               const std::vector<std::string>& command_line, const Clock& clock, const Pause& pause);

    const CampaignDirectory& directory() const { return directory_; }

    ClaimedPart& part() { return part_; }

    const RunSelection& selection() const { return selection_; }

    /// Things worth telling that stop nothing: damage in journals, harvested attempts.
    const std::vector<std::string>& notices() const { return notices_; }

private:
    void replay();
    void harvest_dead_parts();
    void define_campaign();
    void invalidate();
    void append(const Record& record);

    const Plan& plan_;
    const Clock& clock_;
    CampaignDirectory directory_;
    ClaimedPart part_;
    Acceptance acceptance_;
    CampaignSummary summary_;
    Id128 defined_;                   ///< newest definition in the journals
    std::uint64_t defined_cells_ = 0; ///< most cells of the plan's definition that one part has written
    RunSelection selection_;
    std::vector<std::string> notices_;
};

/// What the journals tell of a step, for select_run().
StepHistory step_history(const Acceptance& acceptance, const StepKey& key);

} // namespace tessera
