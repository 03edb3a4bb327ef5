#include <tessera/base/error.hpp>
#include <tessera/worker/worker_identity.hpp>
#include <tessera/worker/worker_loop.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tessera {

namespace {

/// How far behind the head of the queue a smaller item is looked for, and how often the head may be overtaken
/// by one before everything else waits for it.
constexpr std::size_t look_ahead = 64;
constexpr std::uint32_t max_overtaken = 256;

/// Rounds of starting and hearing from the executor before messages get their turn again.
constexpr int rounds_per_step = 64;

} // namespace

WorkerLoop::WorkerLoop(Transport& transport, Executor& executor, OutcomeSink& sink, const Clock& clock,
                       WorkerSettings settings)
    : transport_(transport)
    , executor_(executor)
    , sink_(sink)
    , clock_(clock)
    , settings_(std::move(settings))
    , heartbeat_(from_seconds(settings_.welcome.heartbeat_s))
    , pool_(settings_.welcome, settings_.locality)
    , reports_(settings_.reports)
    , now_(clock.now())
    , last_heard_(now_)
    , last_sent_(now_) {}

WorkerResult WorkerLoop::run() {
    while (step())
        wait();
    return result_;
}

bool WorkerLoop::step() {
    now_ = clock_.now();
    receive_all();
    check_controller();
    work();
    report();
    sync_if_due();
    beat();
    end_if_done();
    return !ended_;
}

void WorkerLoop::wait() {
    std::vector<pollfd> fds = executor_.poll_fds();
    const Duration timeout = more_to_start_ ? Duration::zero() : next_deadline() - clock_.now();
    transport_.wait(fds, std::max(timeout, Duration::zero()));
}

// Messages

void WorkerLoop::receive_all() {
    while (auto incoming = transport_.receive()) {
        if (controller_gone_ || incoming->from != settings_.controller) continue;
        last_heard_ = now_;
        try {
            handle(decoder_.decode(incoming->bytes, "the controller's message"));
        } catch (const FormatError& error) {
            lose_controller(WorkerEnd::controller_garbled, error.what());
        }
    }
}

void WorkerLoop::handle(Message message) {
    if (auto* assign = std::get_if<Assign>(&message)) on(std::move(*assign));
    if (const auto* revoke = std::get_if<Revoke>(&message)) on(*revoke);
    if (const auto* acknowledge = std::get_if<Acknowledge>(&message)) on(*acknowledge);
    if (const auto* stop = std::get_if<Stop>(&message)) on(*stop);
}

void WorkerLoop::on(Assign assign) {
    for (WorkItem& item : assign.items) {
        std::string why = pool_.why_never(item.spec.resources);
        if (why.empty())
            queue_.push_back(std::move(item));
        else
            refuse(item, std::move(why));
    }
    if (stop_) give_back_queue();
}

void WorkerLoop::on(const Revoke& revoke) {
    const std::unordered_set<std::uint64_t> wanted(revoke.tickets.begin(), revoke.tickets.end());
    Revoked answer;
    std::erase_if(queue_, [&](const WorkItem& item) {
        if (!wanted.contains(item.ticket)) return false;
        answer.tickets.push_back(item.ticket);
        return true;
    });
    head_overtaken_ = 0;
    send(answer);
}

void WorkerLoop::on(const Acknowledge& acknowledge) {
    if (!unacknowledged_ || acknowledge.number < *unacknowledged_) return;
    unacknowledged_.reset();
    if (reports_.ended_count() == 0) unsafe_since_.reset();
}

void WorkerLoop::on(const Stop& stop) {
    if (stop.mode != StopMode::abandon) return begin_stop(stop.mode);
    abandoned_ = true;
    lose_controller(WorkerEnd::stopped, {});
}

void WorkerLoop::check_controller() {
    if (controller_gone_) return;
    const std::vector<PeerId> lost = transport_.lost_peers();
    if (std::find(lost.begin(), lost.end(), settings_.controller) != lost.end())
        lose_controller(WorkerEnd::controller_lost, {});
    else if (now_ - last_heard_ >= heartbeat_ * settings_.silent_heartbeats)
        lose_controller(WorkerEnd::controller_silent, {});
}

void WorkerLoop::lose_controller(WorkerEnd how, std::string detail) {
    controller_gone_ = true;
    result_ = {how, std::move(detail)};
    begin_stop(StopMode::drain);
}

void WorkerLoop::begin_stop(StopMode mode) {
    if (stop_ && *stop_ >= mode) return;
    stop_ = mode;
    give_back_queue();
    if (mode == StopMode::finish) return;
    const StopReason reason = mode == StopMode::kill ? StopReason::kill : StopReason::preempt;
    for (const auto& [ticket, attempt] : running_)
        executor_.stop(ticket, reason);
}

void WorkerLoop::give_back_queue() {
    if (queue_.empty()) return;
    Revoked unstarted;
    for (const WorkItem& item : queue_)
        unstarted.tickets.push_back(item.ticket);
    queue_.clear();
    send(unstarted);
}

// Attempts

void WorkerLoop::work() {
    more_to_start_ = false;
    for (int round = 0; round < rounds_per_step; ++round) {
        start_fitting();
        if (!take_events() || queue_.empty()) return;
    }
    more_to_start_ = may_start();
}

void WorkerLoop::start_fitting() {
    std::size_t position = 0;
    while (position < std::min(queue_.size(), look_ahead) && may_start()) {
        const auto item = queue_.begin() + static_cast<std::ptrdiff_t>(position);
        if (!pool_.fits(item->spec.resources)) {
            if (head_overtaken_ >= max_overtaken) return;
            ++position;
            continue;
        }
        head_overtaken_ = position == 0 ? 0 : head_overtaken_ + 1;
        start(*item);
        queue_.erase(item);
    }
}

bool WorkerLoop::may_start() const {
    return !stop_ && pool_.has_free_core() && reports_.ended_bytes() <= settings_.waiting_bytes;
}

void WorkerLoop::start(const WorkItem& item) {
    Running attempt{item.spec.resources, pool_.take(item.spec.resources)};
    executor_.start(item, attempt.placement);
    running_.emplace(item.ticket, std::move(attempt));
}

/// For an item that this worker could never start: the controller must hear of it, else it would wait for
/// ever. No other try can help: the scheduler gives a worker only what its welcome allows.
void WorkerLoop::refuse(const WorkItem& item, std::string why) {
    EndedEvent event = ended_event({settings_.welcome.part, settings_.welcome.worker, settings_.host}, item);
    event.outcome.kind = OutcomeKind::failed;
    event.outcome.failure = FailureClass::verdict;
    event.outcome.message = std::move(why);
    keep(event.outcome);
    reports_.add(std::move(event), now_);
}

/// True if an attempt has ended.
bool WorkerLoop::take_events() {
    bool any_ended = false;
    for (Executor::Event& event : executor_.poll()) {
        if (auto* started = std::get_if<StartedEvent>(&event)) reports_.add(std::move(*started), now_);
        if (auto* metrics = std::get_if<MetricsEvent>(&event)) reports_.add(std::move(*metrics), now_);
        if (auto* ended = std::get_if<EndedEvent>(&event)) {
            take(std::move(*ended));
            any_ended = true;
        }
    }
    return any_ended;
}

void WorkerLoop::take(EndedEvent event) {
    const auto attempt = running_.find(event.ticket);
    if (attempt == running_.end()) return;
    pool_.release(attempt->second.resources, attempt->second.placement);
    running_.erase(attempt);
    keep(event.outcome);
    reports_.add(std::move(event), now_);
}

void WorkerLoop::keep(const OutcomeRecord& outcome) {
    guard_sink([&] { sink_.append(outcome); });
    if (!unsafe_since_) unsafe_since_ = now_;
}

/// After a failure of the sink the worker ends in order, and what it still reports is as good as the
/// controller's journal.
template <class Action>
void WorkerLoop::guard_sink(const Action& action) {
    if (sink_failed_) return;
    try {
        action();
    } catch (const Error& error) {
        sink_failed_ = true;
        if (!controller_gone_) result_ = {WorkerEnd::spool_failed, error.what()};
        begin_stop(StopMode::drain);
    }
}

// Reports

void WorkerLoop::report() {
    if (controller_gone_ || !report_is_due()) return;
    Report report = reports_.take(now_);
    unacknowledged_ = report.number;
    send(std::move(report));
}

/// Events wait a little for company, but not when the controller may have something for an idle core, or will
/// need to send more soon: more has ended than is left in the queue.
bool WorkerLoop::report_is_due() const {
    if (unacknowledged_ || reports_.is_empty()) return false;
    if (stop_) return true;
    const bool runs_dry = pool_.has_free_core() || reports_.ended_count() >= queue_.size();
    if (reports_.ended_count() > 0 && runs_dry) return true;
    return now_ - *reports_.waiting_since() >= from_seconds(settings_.welcome.report_interval_s);
}

/// The controller's journal keeps what it acknowledged. Only what it is slow to take must be safe here.
void WorkerLoop::sync_if_due() {
    if (!unsafe_since_ || now_ - *unsafe_since_ < from_seconds(settings_.spool_sync_s)) return;
    guard_sink([&] { sink_.sync(); });
    unsafe_since_.reset();
}

void WorkerLoop::beat() {
    if (!controller_gone_ && now_ - last_sent_ >= heartbeat_) send(Heartbeat{});
}

void WorkerLoop::end_if_done() {
    if (!stop_ || !running_.empty()) return;
    if (!controller_gone_ && (unacknowledged_ || !reports_.is_empty())) return;
    guard_sink([&] { sink_.sync(); });
    if (!controller_gone_ || abandoned_) send(Goodbye{});
    ended_ = true;
}

void WorkerLoop::send(const Message& message) {
    transport_.send(settings_.controller, encode_message(message));
    last_sent_ = now_;
}

Moment WorkerLoop::next_deadline() const {
    Moment next = std::min(last_sent_ + heartbeat_, last_heard_ + heartbeat_ * settings_.silent_heartbeats);
    if (controller_gone_) next = now_ + heartbeat_;
    if (const auto due = executor_.next_deadline()) next = std::min(next, *due);
    if (unsafe_since_) next = std::min(next, *unsafe_since_ + from_seconds(settings_.spool_sync_s));
    if (!unacknowledged_ && !controller_gone_ && reports_.waiting_since())
        next = std::min(next, *reports_.waiting_since() + from_seconds(settings_.welcome.report_interval_s));
    return next;
}

} // namespace tessera
