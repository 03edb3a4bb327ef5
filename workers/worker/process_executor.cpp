#include <tessera/base/error.hpp>
#include <tessera/worker/attempt_folder.hpp>
#include <tessera/worker/process_executor.hpp>
#include <tessera/worker/verdict.hpp>

#include <fmt/core.h>

#include <utility>

namespace tessera {

ProcessExecutor::ProcessExecutor(ProcessExecutorConfig config, SupervisorClient& supervisor)
    : config_(std::move(config))
    , supervisor_(supervisor)
    , logs_(config_.campaign_dir, config_.worker) {}

void ProcessExecutor::start(const WorkItem& item, const Placement& placement) {
    if (!supervisor_.alive()) {
        refuse(item,
               fmt::format("there is no supervisor to start processes: {}", supervisor_.start_problem()));
        return;
    }
    try {
        launch(item, placement);
    } catch (const IoError& error) {
        refuse(item, error.what());
    }
}

void ProcessExecutor::launch(const WorkItem& item, const Placement& placement) {
    const StepSpec& spec = item.spec;
    const AttemptId id{config_.worker.part, item.step, item.number};
    make_attempt_folder(config_.campaign_dir, id, spec.axes_json);
    const std::string folder = config_.campaign_dir + "/" + attempt_folder(id);
    const auto file = [&folder](std::string_view name) { return fmt::format("{}/{}", folder, name); };

    SpawnRequest request;
    request.ticket = item.ticket;
    request.attempt = id.text();
    request.argv = spec.argv;
    request.env =
        cell_environment(config_.base_environment, spec,
                         {id, folder, config_.programs_folder, config_.visibility_variable}, placement);
    request.folder = folder;
    request.cpus = placement.cpus;
    request.stdin_text = spec.stdin_text;
    request.stdout_path = file(attempt_file::standard_output);
    request.stderr_path = file(attempt_file::standard_error);
    request.log_limit_bytes = spec.log_limit_bytes;
    request.timeout_s = spec.timeout_s;
    request.grace_s = spec.grace_s;

    Attempt attempt{item,
                    placement,
                    ended_event(config_.worker, item),
                    folder,
                    std::string(find_variable(request.env, "PATH")),
                    MetricsReader(file(attempt_file::metrics), spec.metrics_limit_bytes),
                    clock_.now()};
    attempt.ended.outcome.devices = placement.devices;
    if (attempts_.empty()) next_metrics_ = attempt.started + config_.metrics_interval;
    attempts_.insert_or_assign(item.ticket, std::move(attempt));
    supervisor_.send(request);
}

void ProcessExecutor::refuse(const WorkItem& item, std::string message) {
    EndedEvent ended = ended_event(config_.worker, item);
    ended.outcome.kind = OutcomeKind::failed;
    ended.outcome.failure = FailureClass::spawn;
    ended.outcome.message = std::move(message);
    events_.emplace_back(std::move(ended));
}

void ProcessExecutor::stop(std::uint64_t ticket, StopReason reason) {
    Attempt* const attempt = find(ticket);
    if (attempt == nullptr) return;
    attempt->stop_asked = true;
    if (attempt->held)
        attempt->held_until = clock_.now();
    else
        supervisor_.send(StopRequest{ticket, reason == StopReason::kill});
}

std::vector<pollfd> ProcessExecutor::poll_fds() const {
    if (const std::optional<pollfd> fd = supervisor_.poll_fd()) return {*fd};
    return {};
}

std::optional<Moment> ProcessExecutor::next_deadline() const {
    if (!events_.empty()) return Moment{};
    if (attempts_.empty()) return std::nullopt;
    Moment first = next_metrics_;
    for (const auto& [ticket, attempt] : attempts_)
        if (attempt.held_until && *attempt.held_until < first) first = *attempt.held_until;
    return first;
}

std::vector<Executor::Event> ProcessExecutor::poll() {
    const SupervisorClient::News news = supervisor_.poll();
    for (const SupervisorReport& report : news.reports)
        take(report);
    if (news.death) lose_all(*news.death);
    release_held();
    read_metrics();
    std::erase_if(attempts_, [](const auto& entry) { return entry.second.over; });
    return std::exchange(events_, {});
}

void ProcessExecutor::take(const SupervisorReport& report) {
    if (const auto* started = std::get_if<StartedReport>(&report)) {
        if (Attempt* const attempt = find(started->ticket)) take_started(*attempt, *started);
    } else if (const auto* ended = std::get_if<EndedReport>(&report)) {
        if (Attempt* const attempt = find(ended->ticket)) take_ended(*attempt, *ended);
    }
    // An output limit is told again by the end; nobody waits for it.
}

void ProcessExecutor::take_started(Attempt& attempt, const StartedReport& report) {
    // The outcome names only CPUs that the process was really bound to.
    if (report.bound) attempt.ended.outcome.cpus = attempt.placement.cpus;
    events_.emplace_back(
        StartedEvent{report.ticket, attempt.ended.outcome.started_ns, attempt.placement.devices});
}

void ProcessExecutor::take_ended(Attempt& attempt, const EndedReport& report) {
    if (!attempt.loss.empty()) {
        attempt.ended.outcome.leaked_processes = report.leaked_processes;
        lose(attempt);
    } else if (may_be_preemption(report)) {
        attempt.held = report;
        attempt.held_until = clock_.now();
        if (!attempt.stop_asked) *attempt.held_until += config_.settle_time;
    } else {
        conclude(attempt, report);
    }
}

void ProcessExecutor::lose_all(const std::string& death) {
    for (auto& [ticket, attempt] : attempts_) {
        if (attempt.over || attempt.held) continue; // it had ended before
        attempt.loss = death;
        // Its first process died with the supervisor; others may be left, and it has not ended before they
        // are gone.
        if (supervisor_.alive())
            supervisor_.send(
                SweepRequest{ticket, attempt.ended.outcome.attempt.text(), attempt.item.spec.grace_s});
        else
            lose(attempt);
    }
}

void ProcessExecutor::lose(Attempt& attempt) {
    OutcomeRecord& outcome = attempt.ended.outcome;
    outcome.kind = attempt.stop_asked ? OutcomeKind::preempted : OutcomeKind::lost;
    outcome.failure = attempt.stop_asked ? FailureClass::preempted : FailureClass::lost;
    outcome.message = fmt::format("the supervisor that ran it {}", attempt.loss);
    outcome.duration_s = age_s(attempt);
    settle_files(attempt, true);
}

void ProcessExecutor::release_held() {
    const Moment now = clock_.now();
    for (auto& [ticket, attempt] : attempts_) {
        if (attempt.over || !attempt.held || *attempt.held_until > now) continue;
        EndedReport report = std::move(*attempt.held);
        attempt.held.reset();
        attempt.held_until.reset();
        report.stopped = attempt.stop_asked;
        conclude(attempt, report);
    }
}

void ProcessExecutor::read_metrics() {
    const Moment now = clock_.now();
    if (now < next_metrics_) return;
    next_metrics_ = now + config_.metrics_interval;
    for (auto& [ticket, attempt] : attempts_)
        if (!attempt.over && !attempt.held) stream_metrics(attempt, attempt.metrics.read_new(age_s(attempt)));
}

void ProcessExecutor::stream_metrics(Attempt& attempt, std::vector<MetricPoint> points) {
    if (!points.empty()) events_.emplace_back(MetricsEvent{attempt.item.ticket, std::move(points)});
}

void ProcessExecutor::conclude(Attempt& attempt, const EndedReport& report) {
    const bool ran = report.failed_stage == SpawnStage::none;
    const Verdict verdict = judge(report, attempt.item.spec, attempt.path_variable);
    OutcomeRecord& outcome = attempt.ended.outcome;
    outcome.kind = verdict.kind;
    outcome.failure = verdict.failure;
    outcome.message = verdict.message;
    outcome.exit_code = report.exit_code;
    outcome.signal = report.signal;
    outcome.duration_s = report.duration_s;
    outcome.user_s = report.user_s;
    outcome.system_s = report.system_s;
    outcome.max_rss_bytes = report.max_rss_bytes;
    outcome.leaked_processes = report.leaked_processes;
    outcome.stdout_bytes = report.standard_output.bytes;
    outcome.stderr_bytes = report.standard_error.bytes;
    outcome.stdout_truncated = report.standard_output.truncated;
    outcome.stderr_truncated = report.standard_error.truncated;
    note_problem(attempt, "stdout", report.standard_output);
    note_problem(attempt, "stderr", report.standard_error);
    settle_files(attempt, ran);
}

/// Why a log is not whole, unless it only passed its limit: a full disk, say.
void ProcessExecutor::note_problem(Attempt& attempt, std::string_view stream, const StreamSummary& summary) {
    if (!summary.problem.empty())
        attempt.log_problems.push_back(fmt::format("{} was not kept in full: {}", stream, summary.problem));
}

void ProcessExecutor::settle_files(Attempt& attempt, bool ran) {
    OutcomeRecord& outcome = attempt.ended.outcome;
    outcome.ended_ns = clock_.wall_ns();
    attempt.metrics.finish(age_s(attempt));
    outcome.metrics = attempt.metrics.points();
    outcome.metric_problems = attempt.metrics.problems();
    outcome.metric_problems.insert(outcome.metric_problems.begin(), attempt.log_problems.begin(),
                                   attempt.log_problems.end());
    outcome.metrics_truncated = attempt.metrics.truncated();
    const FolderPolicy policy = folder_policy(attempt.item.spec, outcome.kind, ran);
    const bool packed =
        policy == FolderPolicy::all || logs_.keep(attempt.folder, attempt.item.spec.log_limit_bytes, outcome);
    // Logs that could not be packed must not go with the folder.
    if (!packed || clean_attempt_folder(attempt.folder, policy, attempt.item.spec))
        outcome.folder = attempt_folder(outcome.attempt);
    attempt.over = true;
    events_.emplace_back(std::move(attempt.ended));
}

double ProcessExecutor::age_s(const Attempt& attempt) const {
    return seconds(clock_.now() - attempt.started);
}

ProcessExecutor::Attempt* ProcessExecutor::find(std::uint64_t ticket) {
    const auto found = attempts_.find(ticket);
    return found == attempts_.end() ? nullptr : &found->second;
}

} // namespace tessera
