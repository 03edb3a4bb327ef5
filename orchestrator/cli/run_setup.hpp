#pragma once

#include <tessera/cli/progress_view.hpp>
#include <tessera/cli/run_options.hpp>
#include <tessera/controller/controller_host.hpp>

#include <exception>
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

/// How a run shows its progress by the name of the option --progress.
ProgressStyle progress_style(const std::string& name);

/// Exit code of a run that an exception ended: bad input, or else work left, for then nothing has got a
/// verdict.
int run_failure_code(const std::exception& error);

/// The request that the options make. Throws UserError for a wrong expression.
RunRequest run_request(const RunOptions& options);

} // namespace tessera
