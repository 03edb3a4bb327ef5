#pragma once

#include <tessera/cli/run_options.hpp>
#include <tessera/controller/controller_host.hpp>

#include <functional>
#include <string>

namespace tessera {

struct CampaignPlace {
    std::string dir; ///< campaign directory
    std::string name;
};

/// Where the options' campaign lives: --dir, else ./<campaign name>. Reads the campaign file; throws
/// CampaignError.
CampaignPlace campaign_place(const RunOptions& options);

/// Loads, checks and runs the campaign of the options with this process as controller, showing progress on
/// stdout as they say. `release` is called when the ranks are not needed any more. Throws UserError.
RunEnd run_campaign(const RunOptions& options, Transport* remote, SupervisorClient& supervisor,
                    SignalWatcher& signals, const Clock& clock, const std::function<void()>& release);

/// The plan of a campaign that is to be run. Throws CampaignError also for what may stand in a plan only,
/// such as a model's revision that is still to be filled in.
Plan load_runnable_plan(const std::string& path);

/// The request that the options make. Throws UserError for a wrong expression.
RunRequest run_request(const RunOptions& options);

} // namespace tessera
