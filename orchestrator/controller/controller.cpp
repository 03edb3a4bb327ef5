#include <tessera/base/error.hpp>
#include <tessera/controller/controller.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace tessera {

namespace {

/// How long the loop may sleep when nothing is due.
constexpr double longest_sleep_s = 1.0;

} // namespace

Controller::Controller(const Plan& plan, const RunSelection& selection, const ClaimRef& claim,
                       const std::string& part, JournalWriter& journal, Transport& transport,
                       const Clock& clock, ControllerHooks hooks)
    : plan_(plan)
    , cells_(selection.cells)
    , claim_(claim)
    , part_(part)
    , journal_(journal)
    , transport_(transport)
    , clock_(clock)
    , hooks_(std::move(hooks))
    , scheduler_(plan.step_count())
    , selected_(plan.step_count())
    , cell_selected_(plan.cell_count(), false)
    , started_(clock.now())
    , shown_(started_ - from_seconds(3600)) {
    for (const CellIndex cell : cells_)
        cell_selected_[cell] = true;
    for (const RunSelection::SelectedStep& step : selection.steps) {
        selected_[step.step] = {step.generation, step.next_attempt, false};
        scheduler_.add_step(step.step, step.entry);
    }
    for (const RunSelection::SelectedStep& step : selection.steps)
        count_cells(step.step);
    reused_ = succeeded_;
}

void Controller::add_worker(const JoinedWorker& worker, MessageEncoder encoder, MessageDecoder decoder) {
    const WorkerIndex index = scheduler_.add_worker(worker.capacity);
    workers_.push_back(
        {worker, std::move(encoder), std::move(decoder), clock_.now(), clock_.now(), true, false});
    worker_of_peer_[worker.peer] = index;
}

RunResult Controller::run() {
    for (;;) {
        turn();
        if (finishing_ && all_workers_gone() && pending_acks_.empty()) break;
        wait();
    }
    show_progress("storing");
    return result();
}

void Controller::turn() {
    receive();
    obey_stop_level();
    acknowledge_durable();
    watch_workers();
    if (!finishing_) {
        hand_out();
        if (scheduler_.finished() || all_workers_gone()) {
            finishing_ = true;
            stop_workers(StopMode::finish);
        }
    }
    if (seconds(clock_.now() - shown_) >= hooks_.progress_interval_s)
        show_progress(stopping_ != StopLevel::none ? "stopping" : "running");
}

void Controller::receive() {
    while (auto incoming = transport_.receive()) {
        const auto found = worker_of_peer_.find(incoming->from);
        if (found == worker_of_peer_.end()) continue;
        Worker& worker = workers_[found->second];
        if (!worker.present) continue;
        worker.heard = clock_.now();
        try {
            handle(found->second, worker.decoder.decode(incoming->bytes, worker.joined.host));
        } catch (const FormatError& error) {
            lose(found->second, fmt::format("sent a message that cannot be read: {}", error.what()));
        }
    }
}

void Controller::handle(WorkerIndex index, Message message) {
    if (auto* report = std::get_if<Report>(&message)) {
        handle_report(index, std::move(*report));
    } else if (const auto* revoked = std::get_if<Revoked>(&message)) {
        for (const std::uint64_t given_back : revoked->tickets)
            if (const auto step = step_of(given_back)) scheduler_.returned(*step);
        workers_[index].revoking = false;
    } else if (std::holds_alternative<Goodbye>(message)) {
        workers_[index].goodbye = true;
        const bool expected = finishing_ || stopping_ != StopLevel::none || !trouble_.empty();
        if (!expected) lose(index, "it ended on its own");
    }
}

void Controller::handle_report(WorkerIndex index, Report report) {
    std::uint64_t last_sequence = 0;
    for (const StartedEvent& event : report.started) {
        const auto step = step_of(event.ticket);
        if (!step) continue;
        scheduler_.started(*step);
        running_[*step] = {index, clock_.now()};
        journal_.append(StartedRecord{plan_.step_key(*step), selected_[*step].next_attempt, index,
                                      workers_[index].joined.host, event.devices, event.at_ns});
    }
    for (MetricsEvent& event : report.metrics)
        if (const auto step = step_of(event.ticket))
            journal_.append(
                MetricsRecord{plan_.step_key(*step), selected_[*step].next_attempt, std::move(event.points)});
    for (EndedEvent& event : report.ended) {
        event.outcome.worker = index;
        last_sequence = journal_.append(event.outcome);
        ++attempts_;
        handle_ended(index, std::move(event));
    }
    pending_acks_.push_back({index, report.number, last_sequence});
}

void Controller::handle_ended(WorkerIndex index, EndedEvent event) {
    const auto step = step_of(event.ticket);
    if (!step || scheduler_.worker_of(*step) != index) return;
    const OutcomeRecord& outcome = event.outcome;
    AttemptEnd end = AttemptEnd::failed;
    if (outcome.kind == OutcomeKind::succeeded) end = AttemptEnd::succeeded;
    if (outcome.kind == OutcomeKind::preempted) end = AttemptEnd::preempted;
    running_.erase(*step);
    ++selected_[*step].next_attempt;
    scheduler_.ended(*step, end, outcome.failure, outcome.duration_s, clock_.now());
    count_cells(*step);
    if (end == AttemptEnd::failed) {
        const bool again = scheduler_.status(*step) == StepStatus::delayed;
        new_failures_.push_back(fmt::format("{}: {}{}", describe(*step), outcome.message,
                                            again ? "; it will be tried again" : ""));
    }
}

void Controller::hand_out() {
    if (!journal_.has_room()) return;
    std::map<WorkerIndex, std::vector<StepIndex>> by_worker;
    for (const Assignment& assignment : scheduler_.assign(clock_.now()))
        by_worker[assignment.worker].push_back(assignment.step);
    for (const auto& [worker, steps] : by_worker)
        send_assignments(worker, steps);

    std::map<WorkerIndex, Revoke> wanted_back;
    for (const Assignment& assignment : scheduler_.steal())
        wanted_back[assignment.worker].tickets.push_back(ticket(assignment.step));
    for (const auto& [worker, revoke] : wanted_back) {
        if (std::exchange(workers_[worker].revoking, true)) continue;
        send(worker, revoke);
    }
}

void Controller::send_assignments(WorkerIndex worker, const std::vector<StepIndex>& steps) {
    Assign message;
    DispatchedRecord dispatched{worker, claim_, clock_.wall_ns(), {}};
    for (const StepIndex step : steps) {
        Selected& selected = selected_[step];
        WorkItem item{ticket(step), plan_.step_key(step), selected.next_attempt, selected.generation,
                      claim_,       plan_.resolve(step)};
        if (!selected.text_written) {
            std::vector<StepKey> needs;
            for (const StepIndex needed : plan_.needs(step))
                needs.push_back(plan_.step_key(needed));
            journal_.append(StepRecord{item.step, std::move(needs), item.spec});
            selected.text_written = true;
        }
        dispatched.items.push_back({item.step, item.number, item.generation, {}});
        message.items.push_back(std::move(item));
    }
    journal_.append(dispatched);
    send(worker, message);
}

void Controller::acknowledge_durable() {
    journal_.clear_committed();
    if (hooks_.superseded()) fail_run("another run has taken this campaign over");
    if (const auto failure = journal_.failure()) fail_run(failure->what());
    const std::uint64_t durable = journal_.durable_sequence();
    while (!pending_acks_.empty() && (pending_acks_.front().sequence <= durable || !trouble_.empty())) {
        const PendingAck ack = pending_acks_.front();
        pending_acks_.pop_front();
        // What could not be made durable stays unacknowledged; it is in the worker's spool.
        if (ack.sequence <= durable && workers_[ack.worker].present)
            send(ack.worker, Acknowledge{ack.report});
    }
}

void Controller::obey_stop_level() {
    const StopLevel request = hooks_.stop_level();
    if (request <= stopping_) return;
    stopping_ = request;
    scheduler_.drain();
    stop_workers(request == StopLevel::kill ? StopMode::kill : StopMode::drain);
    show_progress("stopping");
}

void Controller::stop_workers(StopMode mode) {
    for (WorkerIndex worker = 0; worker < workers_.size(); ++worker)
        if (workers_[worker].present && !workers_[worker].goodbye) send(worker, Stop{mode});
}

void Controller::watch_workers() {
    for (const PeerId peer : transport_.lost_peers()) {
        const auto found = worker_of_peer_.find(peer);
        if (found != worker_of_peer_.end()) lose(found->second, "its process is gone");
    }
    const Moment now = clock_.now();
    for (WorkerIndex index = 0; index < workers_.size(); ++index) {
        const Worker& worker = workers_[index];
        if (!worker.present || worker.goodbye) continue;
        if (seconds(now - worker.heard) > hooks_.silence_limit_s)
            lose(index, fmt::format("said nothing for {:.0f} s", hooks_.silence_limit_s));
        else if (seconds(now - worker.spoken) > hooks_.heartbeat_s)
            send(index, Heartbeat{});
    }
}

void Controller::lose(WorkerIndex index, const std::string& why) {
    Worker& worker = workers_[index];
    if (!worker.present) return;
    worker.present = false;
    transport_.abandon(worker.joined.peer);
    if (worker.goodbye && finishing_) return;
    new_failures_.push_back(fmt::format("worker {} on {} is lost: {}", index, worker.joined.host, why));
    for (const StepIndex step : scheduler_.remove_worker(index)) {
        OutcomeRecord outcome;
        outcome.attempt = {part_, plan_.step_key(step), selected_[step].next_attempt};
        outcome.generation = selected_[step].generation;
        outcome.claim = claim_;
        outcome.kind = OutcomeKind::lost;
        outcome.failure = FailureClass::lost;
        outcome.message = fmt::format("its worker was lost: {}", why);
        outcome.host = worker.joined.host;
        outcome.worker = index;
        outcome.ended_ns = clock_.wall_ns();
        lost_.push_back(std::move(outcome));
        running_.erase(step);
        ++selected_[step].next_attempt;
        scheduler_.ended(step, AttemptEnd::failed, FailureClass::lost, 0, clock_.now());
        count_cells(step);
    }
}

void Controller::fail_run(const std::string& trouble) {
    if (!trouble_.empty()) return;
    trouble_ = trouble;
    scheduler_.drain();
    stop_workers(StopMode::abandon);
}

void Controller::count_cells(StepIndex step) {
    const StepStatus status = scheduler_.status(step);
    if (status != StepStatus::succeeded && status != StepStatus::failed) return;
    for (const CellIndex cell : plan_.cells_of(step)) {
        if (!cell_selected_[cell]) continue;
        if (status == StepStatus::failed)
            ++failed_;
        else if (plan_.last_step(cell) == step)
            ++succeeded_;
    }
}

void Controller::send(WorkerIndex index, const Message& message) {
    Worker& worker = workers_[index];
    worker.spoken = clock_.now();
    transport_.send(worker.joined.peer, worker.encoder.encode(message));
}

void Controller::show_progress(const std::string& phase) {
    shown_ = clock_.now();
    Progress progress;
    progress.part = part_;
    progress.phase = phase;
    progress.cells = cells_.size();
    progress.succeeded = succeeded_;
    progress.reused = reused_;
    progress.failed = failed_;
    progress.active = running_.size();
    progress.workers = static_cast<std::uint64_t>(
        std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.present; }));
    progress.elapsed_s = seconds(shown_ - started_);
    const std::uint64_t done_here = succeeded_ - reused_;
    const std::uint64_t left = progress.cells - succeeded_ - std::min(failed_, progress.cells - succeeded_);
    if (phase == "running" && done_here > 0)
        progress.remaining_s =
            progress.elapsed_s * static_cast<double>(left) / static_cast<double>(done_here);
    for (const auto& [step, running] : running_)
        progress.running.push_back({running.worker, describe(step), seconds(shown_ - running.since)});
    std::sort(progress.running.begin(), progress.running.end(),
              [](const auto& a, const auto& b) { return a.elapsed_s > b.elapsed_s; });
    if (progress.running.size() > 8) progress.running.resize(8);
    progress.failures = std::exchange(new_failures_, {});
    hooks_.progress(progress);
}

void Controller::wait() {
    double sleep_s = std::min({longest_sleep_s, hooks_.progress_interval_s, hooks_.heartbeat_s});
    if (const auto retry = scheduler_.next_retry())
        sleep_s = std::clamp(seconds(*retry - clock_.now()), 0.0, sleep_s);
    std::vector<pollfd> fds = {{journal_.committed_fd(), POLLIN, 0}};
    for (const int fd : hooks_.wake_fds)
        fds.push_back({fd, POLLIN, 0});
    transport_.wait(fds, from_seconds(sleep_s));
}

bool Controller::all_workers_gone() const {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const Worker& worker) { return !worker.present || worker.goodbye; });
}

RunResult Controller::result() const {
    RunResult result;
    result.planned = cells_.size();
    result.attempts = attempts_;
    result.trouble = trouble_;
    result.lost = lost_;
    const auto unplaceable = scheduler_.unplaceable();
    std::vector<bool> cannot_run(plan_.step_count(), false);
    if (!workers_.empty() &&
        std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.present; }))
        for (const StepIndex step : unplaceable) {
            cannot_run[step] = true;
            if (result.too_large.empty()) result.too_large = scheduler_.why_not(step);
        }
    for (const CellIndex cell : cells_) {
        const StepIndex last = plan_.last_step(cell);
        switch (scheduler_.status(last)) {
        case StepStatus::succeeded:
            ++result.succeeded;
            break;
        case StepStatus::failed:
            ++result.failed;
            break;
        case StepStatus::blocked:
            ++result.blocked;
            break;
        default:
            if (cannot_run[last])
                ++result.unplaceable;
            else
                ++result.left;
        }
    }
    return result;
}

std::string Controller::describe(StepIndex step) const {
    const CellIndex cell = plan_.cells_of(step).front();
    std::string text;
    const auto& axes = plan_.matrix().axes();
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const std::uint32_t code = plan_.code(cell, axis);
        if (code == 0) continue;
        if (!text.empty()) text += ' ';
        text += axes[axis].name + '=' + axes[axis].values[code - 1].value.display();
    }
    return fmt::format("{} {}", plan_.cell_id(cell).short_hex(), text);
}

std::optional<StepIndex> Controller::step_of(std::uint64_t ticket) const {
    const auto step = static_cast<StepIndex>(ticket);
    if (step >= selected_.size() || ticket >> 32U != selected_[step].next_attempt) return std::nullopt;
    return step;
}

std::uint64_t Controller::ticket(StepIndex step) const {
    return static_cast<std::uint64_t>(selected_[step].next_attempt) << 32U | step;
}

} // namespace tessera
