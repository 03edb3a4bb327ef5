#include <tessera/base/error.hpp>
#include <tessera/cli/progress_view.hpp>
#include <tessera/cli/run_setup.hpp>
#include <tessera/cli/table_writer.hpp>
#include <tessera/local/launcher_step.hpp>
#include <tessera/protocol/handshake.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>

namespace tessera {

ProgressStyle progress_style(const std::string& name) {
    if (name == "json") return ProgressStyle::json;
    if (name == "plain") return ProgressStyle::plain;
    if (name == "repaint") return ProgressStyle::repaint;
    // A launcher may give rank 0 a terminal of its own, but what it shows there goes through a pipe.
    if (launcher_step(process_variables())) return ProgressStyle::plain;
    return default_progress_style();
}

CampaignPlace campaign_place(const RunOptions& options) {
    const Campaign campaign = load_campaign(options.campaign);
    return {options.dir.empty() ? "./" + campaign.name : options.dir, campaign.name};
}

int run_failure_code(const std::exception& error) {
    bool input = dynamic_cast<const UserError*>(&error) != nullptr ||
                 dynamic_cast<const HandshakeError*>(&error) != nullptr;
    // A path that cannot be used, as against a disk that is full or broken.
    static constexpr std::array unusable = {EACCES, EPERM,        ENOENT, ENOTDIR,
                                            EISDIR, ENAMETOOLONG, EROFS,  ELOOP};
    if (const auto* io = dynamic_cast<const IoError*>(&error))
        input = std::find(unusable.begin(), unusable.end(), io->code) != unusable.end();
    return input ? exit_code::bad_input : exit_code::work_left;
}

Plan load_runnable_plan(const std::string& path) {
    Plan plan = Plan::load(path);
    std::vector<Diagnostic> obstacles;
    for (const Diagnostic& warning : plan.warnings())
        if (warning.stops_run) obstacles.push_back(warning);
    if (!obstacles.empty()) throw CampaignError(std::move(obstacles));
    return plan;
}

RunRequest run_request(const RunOptions& options) {
    RunRequest request;
    if (!options.where.empty()) request.where = Expression::parse(options.where);
    if (!options.rerun.empty()) request.rerun = Expression::parse(options.rerun);
    request.limit = options.limit;
    request.retry_failed = options.retry_failed;
    return request;
}

RunEnd run_campaign(const RunOptions& options, Transport* remote, SupervisorClient& supervisor,
                    SignalWatcher& signals, const Clock& clock, const std::function<void()>& release) {
    const Plan plan = load_runnable_plan(options.campaign);
    RunOrder order;
    order.dir = options.dir.empty() ? "./" + plan.campaign().name : options.dir;
    order.request = run_request(options);
    order.run_name = options.for_parent;
    order.command_line = to_arguments(options);
    order.controller_only = options.controller_only;
    order.release = release;
    const bool for_parent = !options.for_parent.empty();
    ProgressView view(std::cout, progress_style(options.progress), terminal_width());
    order.progress = [&](const Progress& progress) {
        if (for_parent)
            std::cout << progress_prefix << to_json(progress) << '\n' << std::flush;
        else
            view.show(progress, clock.now());
    };
    order.notice = [&](const std::string& line) {
        if (for_parent)
            std::cout << line << '\n' << std::flush;
        else
            view.print(line + '\n');
    };
    const RunEnd end = run_as_controller(plan, order, remote, supervisor, signals, clock);
    view.finish();
    if (!for_parent) std::cout << end.reason << '\n';
    return end;
}

} // namespace tessera
