#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/campaign/plan.hpp>
#include <tessera/controller/exit_code.hpp>
#include <tessera/controller/progress.hpp>
#include <tessera/controller/run_session.hpp>
#include <tessera/controller/signals.hpp>
#include <tessera/protocol/transport.hpp>
#include <tessera/worker/supervisor_client.hpp>
#include <tessera/worker/worker_loop.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tessera {

/// What one run is, apart from who works for it.
struct RunOrder {
    std::string dir;      ///< campaign directory
    std::string run_name; ///< by which a stop request can mean this run alone; may be empty
    RunRequest request;
    std::vector<std::string> command_line; ///< for provenance
    bool controller_only = false;
    std::function<void(const Progress&)> progress;
    std::function<void(const std::string&)> notice; ///< lines for the user
    std::function<void()>
        release; ///< called when the ranks are not needed any more, before results are stored
};

/// Runs a campaign as its controller: on the ranks behind `remote` (null: there are none) and on a worker
/// thread of this process if no other rank is on its node. Stops on SIGINT, SIGTERM and SIGUSR1 from
/// `signals` and on the directory's stop file. Throws UserError, after telling the ranks, if the run cannot
/// begin.
RunEnd run_as_controller(const Plan& plan, const RunOrder& order, Transport* remote,
                         SupervisorClient& supervisor, SignalWatcher& signals, const Clock& clock);

/// The end of a worker's rank: waits for the controller's first word, takes the campaign's id from `dir`,
/// works.
/// Why a worker ended, for people.
std::string describe(const WorkerResult& result);

WorkerResult run_as_worker(const std::string& dir, const std::string& campaign_name, Transport& transport,
                           SupervisorClient& supervisor, const Clock& clock);

} // namespace tessera
