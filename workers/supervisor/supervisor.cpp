#include <tessera/base/error.hpp>
#include <tessera/supervisor/supervisor.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <unistd.h>

namespace tessera {

namespace {

constexpr Duration shortest_check = std::chrono::milliseconds(5);
constexpr Duration longest_check = std::chrono::milliseconds(200);
// A campaign may write any number as a time; past this it means "never" and must not overflow the clock.
constexpr double longest_span_s = 1e9;

// Descriptors of our own and those that one start needs for a moment.
constexpr std::size_t spare_descriptors = 16;
constexpr std::size_t descriptors_an_attempt = 4;

Moment now() {
    return SystemClock().now();
}

Duration span(double value_s) {
    return from_seconds(std::clamp(value_s, 0.0, longest_span_s));
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

bool rose(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
    return before && after && *after > *before;
}

UniqueFd child_signal_fd() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGCHLD);
    UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd) throw IoError("watch child processes", "signalfd", errno);
    return fd;
}

} // namespace

Supervisor::Supervisor(UniqueFd socket, CellDefaults defaults)
    : socket_(std::move(socket))
    , defaults_(defaults)
    , child_signals_(child_signal_fd())
    , cgroup_(Cgroup::of_this_process()) {}

void Supervisor::run() {
    while (!closing_ || !attempts_.empty()) {
        wait();
        processes_.reset();
        // An exit that is already there comes before a stop that was just sent: it was not the stop's doing.
        reap();
        pump_output();
        if (socket_) read_requests();
        check_deadlines();
        std::erase_if(attempts_, [](const Attempt& attempt) { return attempt.over; });
        if (socket_ && !reports_.flush(socket_.get())) end_all();
    }
}

void Supervisor::wait() {
    waiting_.clear();
    waiting_.push_back({child_signals_.get(), POLLIN, 0});
    if (socket_)
        waiting_.push_back(
            {socket_.get(), static_cast<short>(reports_.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    for (const Attempt& attempt : attempts_) {
        if (attempt.standard_output.fd() >= 0) waiting_.push_back({attempt.standard_output.fd(), POLLIN, 0});
        if (attempt.standard_error.fd() >= 0) waiting_.push_back({attempt.standard_error.fd(), POLLIN, 0});
    }
    timespec timeout{};
    const std::optional<Moment> deadline = next_deadline();
    if (deadline) {
        const Duration left = std::max(*deadline - now(), Duration::zero());
        timeout.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
        timeout.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    }
    ::ppoll(waiting_.data(), waiting_.size(), deadline ? &timeout : nullptr, nullptr);
}

std::optional<Moment> Supervisor::next_deadline() const {
    std::optional<Moment> first;
    for (const Attempt& attempt : attempts_)
        for (const auto& moment : {attempt.timeout_at, attempt.kill_at, attempt.check_at})
            if (moment && (!first || *moment < *first)) first = moment;
    return first;
}

void Supervisor::reap() {
    signalfd_siginfo info{};
    while (::read(child_signals_.get(), &info, sizeof info) > 0) {
    }
    int status = 0;
    rusage usage{};
    pid_t pid = 0;
    bool stray_ended = false;
    while ((pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0) {
        const auto running = std::find_if(attempts_.begin(), attempts_.end(), [pid](const Attempt& attempt) {
            return attempt.running && attempt.mark.leader == pid;
        });
        if (running != attempts_.end()) {
            account(usage, *running);
            fix_outcome(*running, status);
            continue;
        }
        stray_ended = true;
        for (Attempt& attempt : attempts_) {
            const auto same_pid = [pid](const auto& process) { return process.first == pid; };
            if (std::any_of(attempt.signalled.begin(), attempt.signalled.end(), same_pid))
                account(usage, attempt);
        }
    }
    for (Attempt& attempt : attempts_)
        if (stray_ended && !attempt.running) attempt.check_at = now();
}

void Supervisor::account(const rusage& usage, Attempt& attempt) const {
    attempt.report.user_s += seconds(usage.ru_utime);
    attempt.report.system_s += seconds(usage.ru_stime);
    const std::uint64_t peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    attempt.report.max_rss_bytes = std::max(attempt.report.max_rss_bytes, peak_bytes);
}

void Supervisor::fix_outcome(Attempt& attempt, int status) {
    attempt.running = false;
    attempt.mark.leader_alive = false;
    attempt.timeout_at.reset();
    attempt.report.duration_s = tessera::seconds(now() - attempt.started);
    if (WIFSIGNALED(status))
        attempt.report.signal = WTERMSIG(status);
    else
        attempt.report.exit_code = WEXITSTATUS(status);
    judge_oom(attempt);
    attempt.check_interval = shortest_check;
    attempt.check_at = now();
    // The quick look needs no walk over the machine's processes; it is sound because whatever the attempt
    // started has become our child. Only after a forced end also processes that were never our descendants
    // are looked for.
    if (!attempt.terminating && !has_unknown_children()) finish(attempt);
}

void Supervisor::judge_oom(Attempt& attempt) const {
    constexpr int killed_as_shells_say = 128 + SIGKILL;
    EndedReport& report = attempt.report;
    const bool killed = report.signal == SIGKILL || report.exit_code == killed_as_shells_say;
    const bool failed = report.signal.has_value() || report.exit_code.value_or(0) != 0;
    if (report.kill_sent || !failed) return;
    const OomCounters after = oom_counters();
    if (rose(attempt.oom_before.cgroup, after.cgroup))
        report.oom = OomEvidence::cgroup;
    else if (killed && rose(attempt.oom_before.machine, after.machine))
        report.oom = OomEvidence::machine;
}

Supervisor::OomCounters Supervisor::oom_counters() const {
    return {cgroup_.oom_kills(), cgroup_.machine_oom_kills()};
}

void Supervisor::pump_output() {
    for (Attempt& attempt : attempts_) {
        pump(attempt, attempt.standard_output, OutputStream::standard_output);
        pump(attempt, attempt.standard_error, OutputStream::standard_error);
    }
}

void Supervisor::pump(Attempt& attempt, OutputLog& log, OutputStream stream) {
    if (log.fd() >= 0 && log.pump()) send(OutputLimitReport{attempt.report.ticket, stream});
}

void Supervisor::read_requests() {
    bool alive = requests_.fill(socket_.get());
    try {
        while (const std::optional<std::string> payload = requests_.next())
            handle(decode_request(*payload));
    } catch (const FormatError&) {
        alive = false; // nothing that follows can be understood: as good as gone
    }
    if (!alive) end_all();
}

void Supervisor::handle(const SupervisorRequest& request) {
    if (const auto* spawn = std::get_if<SpawnRequest>(&request))
        start(*spawn);
    else if (const auto* stop_request = std::get_if<StopRequest>(&request))
        stop(*stop_request);
    else if (const auto* sweep_request = std::get_if<SweepRequest>(&request))
        sweep(*sweep_request);
    else
        end_all();
}

void Supervisor::start(const SpawnRequest& request) {
    if (closing_) return;
    Attempt attempt;
    attempt.report.ticket = request.ticket;
    attempt.mark.attempt = request.attempt;
    attempt.mark.start_ticks = ticks_since_boot();
    attempt.grace = span(request.grace_s);
    attempt.oom_before = oom_counters();
    attempt.started = now();
    CellStart begun;
    if (room_for_descriptors())
        begun = start_cell(request, defaults_);
    else
        begun.failure = {SpawnStage::resources, EMFILE};
    if (!begun.process) {
        attempt.report.failed_stage = begun.failure.stage;
        attempt.report.failed_errno = begun.failure.error;
        send(attempt.report);
        return;
    }
    CellProcess& process = *begun.process;
    attempt.mark.leader = process.pid;
    attempt.mark.leader_alive = true;
    attempt.running = true;
    attempt.standard_output =
        OutputLog(std::move(process.standard_output), request.stdout_path, request.log_limit_bytes);
    attempt.standard_error =
        OutputLog(std::move(process.standard_error), request.stderr_path, request.log_limit_bytes);
    if (request.timeout_s) attempt.timeout_at = attempt.started + span(*request.timeout_s);
    send(StartedReport{request.ticket, process.pid, process.bound});
    attempts_.push_back(std::move(attempt));
}

/// Logs are opened when the first byte comes; the descriptors for that must still be there then.
bool Supervisor::room_for_descriptors() const {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return spare_descriptors + descriptors_an_attempt * (attempts_.size() + 1) <= limit.rlim_cur;
}

void Supervisor::stop(const StopRequest& request) {
    Attempt* attempt = find(request.ticket);
    if (attempt == nullptr || attempt->over) return;
    if (attempt->running) attempt->report.stopped = true;
    if (request.kill)
        kill(*attempt);
    else if (!attempt->terminating)
        terminate(*attempt);
}

void Supervisor::sweep(const SweepRequest& request) {
    Attempt attempt;
    attempt.report.ticket = request.ticket;
    attempt.mark.attempt = request.attempt;
    attempt.mark.start_ticks =
        std::numeric_limits<std::uint64_t>::max(); // never a candidate for an unmarked process
    attempt.grace = span(request.grace_s);
    attempt.is_sweep = true;
    attempt.started = now();
    attempts_.push_back(std::move(attempt));
    terminate(attempts_.back());
}

void Supervisor::end_all() {
    socket_.reset();
    closing_ = true;
    for (Attempt& attempt : attempts_) {
        if (attempt.running) attempt.report.stopped = true;
        if (!attempt.over && !attempt.terminating) terminate(attempt);
    }
}

void Supervisor::check_deadlines() {
    const Moment moment = now();
    for (Attempt& attempt : attempts_) {
        if (attempt.over) continue;
        if (attempt.timeout_at && moment >= *attempt.timeout_at) {
            attempt.report.timed_out = !attempt.terminating;
            attempt.timeout_at.reset();
            if (!attempt.terminating) terminate(attempt);
        }
        if (attempt.kill_at && moment >= *attempt.kill_at) kill(attempt);
        if (attempt.check_at && moment >= *attempt.check_at) clear(attempt);
    }
}

void Supervisor::terminate(Attempt& attempt) {
    attempt.terminating = true;
    attempt.kill_at = now() + attempt.grace;
    attempt.check_interval = shortest_check;
    attempt.check_at = now() + shortest_check;
    signal_members(attempt, members(attempt));
}

void Supervisor::kill(Attempt& attempt) {
    attempt.terminating = true;
    attempt.kill_at.reset();
    attempt.check_interval = shortest_check;
    attempt.check_at = now() + shortest_check;
    attempt.report.kill_sent = attempt.report.kill_sent || attempt.running;
    processes_.reset(); // processes that began since the last look must not be missed
    for (const ProcessEntry& process : members(attempt)) {
        if (process.session != attempt.mark.leader) attempt.leaked.emplace(process.pid, process.start_ticks);
        attempt.signalled.emplace(process.pid, process.start_ticks);
        ::kill(process.pid, SIGKILL);
    }
}

/// SIGTERM once to each process, and SIGCONT so that a stopped one can follow it.
void Supervisor::signal_members(Attempt& attempt, const std::vector<ProcessEntry>& members) {
    for (const ProcessEntry& process : members) {
        if (!attempt.signalled.emplace(process.pid, process.start_ticks).second) continue;
        ::kill(process.pid, SIGTERM);
        ::kill(process.pid, SIGCONT);
    }
}

/// One step of the way to nothing left; does nothing while the first process runs and its time is not over.
void Supervisor::clear(Attempt& attempt) {
    attempt.check_at.reset();
    const bool kill_was_sent = attempt.terminating && !attempt.kill_at;
    if (attempt.running && !kill_was_sent) return;
    const std::vector<ProcessEntry> left = members(attempt);
    if (left.empty() && !attempt.running) {
        finish(attempt);
        return;
    }
    attempt.check_at = now() + attempt.check_interval;
    attempt.check_interval = std::min(2 * attempt.check_interval, longest_check);
    if (kill_was_sent) {
        for (const ProcessEntry& process : left)
            ::kill(process.pid, SIGKILL);
        return;
    }
    for (const ProcessEntry& process : left)
        attempt.leaked.emplace(process.pid, process.start_ticks);
    if (!attempt.terminating) {
        attempt.terminating = true;
        attempt.kill_at = now() + attempt.grace;
    }
    signal_members(attempt, left);
}

void Supervisor::finish(Attempt& attempt) {
    attempt.over = true;
    attempt.check_at.reset();
    attempt.kill_at.reset();
    attempt.standard_output.finish();
    attempt.standard_error.finish();
    EndedReport& report = attempt.report;
    report.leaked_processes = static_cast<std::uint32_t>(attempt.leaked.size());
    report.standard_output = attempt.standard_output.summary();
    report.standard_error = attempt.standard_error.summary();
    report.stdout_tail = attempt.standard_output.tail();
    report.stderr_tail = attempt.standard_error.tail();
    send(report);
}

bool Supervisor::has_unknown_children() const {
    // The kernel's list may skip an entry while another one leaves, so it counts only when two looks agree.
    const auto look = [this]() -> std::optional<std::size_t> {
        const std::optional<std::vector<pid_t>> children = own_children();
        if (!children) return std::nullopt;
        return static_cast<std::size_t>(std::count_if(children->begin(), children->end(), [this](pid_t pid) {
            return std::none_of(attempts_.begin(), attempts_.end(), [pid](const Attempt& attempt) {
                return attempt.running && attempt.mark.leader == pid;
            });
        }));
    };
    return look() != std::size_t{0} || look() != std::size_t{0};
}

std::vector<ProcessEntry> Supervisor::members(const Attempt& attempt) {
    if (!processes_) processes_ = ProcessTable::read();
    std::vector<AttemptMark> marks;
    std::size_t index = 0;
    for (const Attempt& other : attempts_) {
        if (other.over) continue;
        if (&other == &attempt) index = marks.size();
        marks.push_back(other.mark);
    }
    return processes_->members(marks, index, ::getpid());
}

Supervisor::Attempt* Supervisor::find(std::uint64_t ticket) {
    const auto found = std::find_if(attempts_.begin(), attempts_.end(), [ticket](const Attempt& attempt) {
        return attempt.report.ticket == ticket;
    });
    return found == attempts_.end() ? nullptr : &*found;
}

void Supervisor::send(const SupervisorReport& report) {
    if (socket_) reports_.push(encode(report));
}

} // namespace tessera
