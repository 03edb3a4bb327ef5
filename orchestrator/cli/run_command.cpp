#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/cli/progress_view.hpp>
#include <tessera/cli/run_options.hpp>
#include <tessera/cli/run_setup.hpp>
#include <tessera/cli/table_writer.hpp>
#include <tessera/controller/worker_host.hpp>
#include <tessera/local/child_process.hpp>
#include <tessera/local/launcher_step.hpp>
#include <tessera/local/local_launcher.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <poll.h>
#include <unistd.h>

namespace tessera {

namespace {

std::vector<std::string> rank_programs() {
    std::vector<std::string> mpis;
    for (const std::string& mpi : split(std::string(built_mpis), ' '))
        if (!mpi.empty() && std::filesystem::exists(own_programs_folder() + "/tessera-rank-" + mpi))
            mpis.push_back(mpi);
    return mpis;
}

std::string rank_program(const std::string& mpi) {
    return own_programs_folder() + "/tessera-rank-" + mpi;
}

std::vector<std::string> wanted_mpis(const RunOptions& options) {
    const std::vector<std::string> built = rank_programs();
    if (options.mpi.empty()) return built;
    if (std::find(built.begin(), built.end(), options.mpi) == built.end())
        throw UserError(fmt::format("--mpi={}: no rank program for it was built; there is: {}", options.mpi,
                                    built.empty() ? "none" : fmt::format("{}", fmt::join(built, ", "))));
    return {options.mpi};
}

/// Becomes a rank of the launcher's step that this process is in.
[[noreturn]] void become_rank(const LauncherStep& step, const RunOptions& options) {
    std::vector<std::string> mpis = wanted_mpis(options);
    if (!step.mpi.empty() && options.mpi.empty()) {
        if (std::find(mpis.begin(), mpis.end(), step.mpi) == mpis.end())
            throw UserError(fmt::format(
                "started by a launcher of {}, but no rank program for it was built: build Tessera "
                "with that MPI's module loaded",
                step.mpi));
        mpis = {step.mpi};
    }
    if (mpis.empty()) throw UserError("started by an MPI launcher, but Tessera was built without MPI");
    if (mpis.size() > 1)
        throw UserError(
            fmt::format("which MPI started this rank? Say so with --mpi={}", fmt::join(mpis, " or --mpi=")));
    const std::string program = rank_program(mpis.front());
    std::vector<std::string> words = {program};
    for (const std::string& word : to_arguments(options))
        words.push_back(word);
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    throw IoError("start", program, errno);
}

int run_in_one_process(const RunOptions& options) {
    const SystemClock clock;
    SignalWatcher signals(stop_signals());
    SupervisorClient supervisor(own_programs_folder() + "/tessera-supervisor");
    try {
        return run_campaign(options, nullptr, supervisor, signals, clock, [] {}).code;
    } catch (const std::exception& error) {
        std::cerr << "tessera: " << error.what() << '\n';
        return run_failure_code(error);
    }
}

/// Longer than the grace time of cells, which ranks wait for.
constexpr double ranks_end_s = 20;

/// The `tessera run` above the ranks that it started with mpirun: shows their progress, passes stop requests
/// on, and takes the exit code from their verdict.
class RanksParent {
public:
    /// `run_name` is what the ranks were told to call the run.
    RanksParent(const RunOptions& options, const CampaignPlace& place, std::string run_name,
                const LaunchCommand& launch)
        : place_(place)
        , run_name_(std::move(run_name))
        , signals_(stop_signals())
        , view_(std::cout, progress_style(options.progress), terminal_width())
        , ranks_(launch.argv, launch.env) {}

    int run() {
        while (read_output())
            obey_signals();
        const int launcher_code = ranks_.wait();
        view_.finish();
        return verdict(launcher_code);
    }

private:
    /// False at the end of the ranks' output.
    bool read_output() {
        pollfd fds[] = {{ranks_.stdout_fd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
        if (::poll(fds, 2, -1) < 0 || (fds[0].revents & (POLLIN | POLLHUP)) == 0) return true;
        char buffer[65536];
        const ssize_t count = ::read(ranks_.stdout_fd(), buffer, sizeof buffer);
        if (count < 0) return errno == EINTR;
        if (count == 0) return false;
        pending_.append(buffer, static_cast<std::size_t>(count));
        std::size_t start = 0;
        for (std::size_t end = 0; (end = pending_.find('\n', start)) != std::string::npos; start = end + 1)
            take_line(std::string_view(pending_).substr(start, end - start));
        pending_.erase(0, start);
        return true;
    }

    void take_line(std::string_view line) {
        if (line.substr(0, progress_prefix.size()) == progress_prefix) {
            const auto progress = parse_progress(line.substr(progress_prefix.size()));
            if (!progress) return;
            part_ = progress->part;
            view_.show(*progress, clock_.now());
            return;
        }
        if (line.substr(0, refusal_prefix.size()) == refusal_prefix) {
            refusal_code_ = std::atoi(std::string(line.substr(refusal_prefix.size())).c_str());
            return;
        }
        view_.print(std::string(line) + '\n');
    }

    void obey_signals() {
        for (const int signal : signals_.take()) {
            if (first_signal_ == 0) first_signal_ = signal == SIGINT ? SIGINT : SIGTERM;
            ++stops_;
            if (stops_ > 2 || !CampaignDirectory::exists(place_.dir))
                ranks_.signal(SIGKILL);
            else
                CampaignDirectory::open(place_.dir).request_stop(stops_ > 1, run_name_);
            if (stops_ == 1) view_.print("stopping: running cells get a grace time; once more kills them\n");
        }
    }

    int verdict(int launcher_code) {
        auto found = read_verdict();
        if (!found && !part_.empty()) {
            await_ranks();
            found = read_verdict();
        }
        if (found) {
            std::cout << found->reason << '\n';
            const bool stopped =
                found->exit_code == exit_code::interrupted || found->exit_code == exit_code::terminated;
            return stopped && first_signal_ != 0 ? 128 + first_signal_ : found->exit_code;
        }
        if (first_signal_ != 0) return 128 + first_signal_;
        if (refusal_code_ != 0) return refusal_code_;
        if (part_.empty()) {
            std::cout << fmt::format(
                "the ranks could not be started or ended at once (mpirun: {}); `--workers 0` "
                "runs everything in one process without mpirun\n",
                launcher_code);
            return exit_code::work_left;
        }
        std::cout << fmt::format("the ranks ended without a verdict (mpirun: {}); run it again to go on\n",
                                 launcher_code);
        return exit_code::work_left;
    }

    std::optional<Verdict> read_verdict() const {
        return part_.empty() ? std::nullopt : CampaignDirectory::open(place_.dir).verdict(part_);
    }

    /// A killed mpirun leaves its ranks a moment longer; as long as they live nobody else may run the
    /// campaign.
    void await_ranks() {
        const CampaignDirectory directory = CampaignDirectory::open(place_.dir);
        const Moment deadline = clock_.now() + from_seconds(ranks_end_s);
        while (part_may_run(directory, part_) && clock_.now() < deadline)
            ::poll(nullptr, 0, 50);
    }

    CampaignPlace place_;
    std::string run_name_;
    SignalWatcher signals_;
    SystemClock clock_;
    ProgressView view_;
    ChildProcess ranks_;
    std::string pending_;
    std::string part_;
    int refusal_code_ = 0; ///< of a run that could not begin
    int first_signal_ = 0;
    int stops_ = 0;
};

int run_with_mpirun(RunOptions options, const MpiLauncher& launcher) {
    const CampaignPlace place = campaign_place(options);
    const std::uint32_t workers = options.workers.value_or(1);
    RunOptions for_ranks = options;
    for_ranks.for_parent = Id128::random().short_hex(16);
    for_ranks.dir = place.dir;
    std::vector<std::string> program = {rank_program(launcher.mpi)};
    for (const std::string& word : to_arguments(for_ranks))
        program.push_back(word);
    const bool in_slurm_job = process_variables()("SLURM_JOB_ID").has_value();
    const LaunchCommand launch = local_launch(launcher, workers + 1, program, ::geteuid() == 0, in_slurm_job);
    return RanksParent(options, place, for_ranks.for_parent, launch).run();
}

} // namespace

int run_command(const std::vector<std::string>& args) {
    const RunOptions options = parse_run_options(args);
    if (options.help_shown) return 0;
    if (const auto step = launcher_step(process_variables())) become_rank(*step, options);
    // Every mistake in the campaign shows here, once, before ranks start or the directory is touched.
    {
        const Plan plan = load_runnable_plan(options.campaign);
        const RunRequest request = run_request(options);
        if (request.where) plan.select(*request.where);
        if (request.rerun) plan.select(*request.rerun);
        for (const Diagnostic& warning : plan.warnings())
            std::cerr << warning.text() << '\n';
    }
    if (options.workers == 0U) return run_in_one_process(options);
    const auto launcher = find_mpi_launcher(wanted_mpis(options));
    if (launcher) return run_with_mpirun(options, *launcher);
    if (options.workers)
        throw UserError(
            "--workers needs an MPI that Tessera was built with and whose mpirun is in PATH; without one, "
            "--workers 0 runs everything in one process");
    return run_in_one_process(options);
}

} // namespace tessera
