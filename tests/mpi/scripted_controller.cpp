#include "scripted_controller.hpp"

#include <tessera/base/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace tessera::test {

namespace {

constexpr Duration handshake_limit = std::chrono::seconds(30);
constexpr Duration short_wait = std::chrono::milliseconds(100);

} // namespace

ScriptedController::ScriptedController(Transport& transport, std::size_t window)
    : transport_(transport)
    , window_(window)
    , last_beat_(clock_.now()) {}

void ScriptedController::gather(double heartbeat_s) {
    heartbeat_s_ = heartbeat_s;
    for (const auto& [peer, hello] : collect_hellos(transport_, clock_, terms, handshake_limit)) {
        Welcome welcome;
        welcome.worker = peer;
        welcome.core_slots = 4;
        welcome.heartbeat_s = heartbeat_s;
        send(peer, welcome);
    }
}

void ScriptedController::run_items(std::uint64_t count, const std::set<PeerId>& doomed) {
    count_ = last_ticket_ + count;
    for (const auto& [peer, worker] : workers_)
        supply(peer);
    while (!all_ended(doomed))
        serve(short_wait);
}

void ScriptedController::reassign(PeerId dead) {
    transport_.abandon(dead);
    Worker& worker = workers_.at(dead);
    worker.gone = true;
    for (auto& [ticket, item] : worker.assigned)
        returned_.push_back(std::move(item));
    worker.assigned.clear();
    run_items(0);
}

void ScriptedController::idle(Duration duration) {
    const Moment end = clock_.now() + duration;
    while (clock_.now() < end)
        serve(std::min(from_seconds(heartbeat_s_), end - clock_.now()));
}

void ScriptedController::stop() {
    const auto left = [&] {
        return std::any_of(workers_.begin(), workers_.end(),
                           [](const auto& entry) { return !entry.second.gone; });
    };
    for (const auto& [peer, worker] : workers_)
        if (!worker.gone) send(peer, Stop{StopMode::finish});
    while (left())
        serve(short_wait);
}

void ScriptedController::supply(PeerId peer) {
    Worker& worker = workers_.at(peer);
    Assign assign;
    while (!worker.gone && worker.assigned.size() < window_ &&
           (!returned_.empty() || last_ticket_ < count_)) {
        assign.items.push_back(next_item());
        worker.assigned.emplace(assign.items.back().ticket, assign.items.back());
    }
    if (!assign.items.empty()) send(peer, assign);
}

WorkItem ScriptedController::next_item() {
    if (!returned_.empty()) {
        WorkItem item = std::move(returned_.back());
        returned_.pop_back();
        return item;
    }
    WorkItem item;
    item.ticket = ++last_ticket_;
    item.spec.name = "workload";
    item.spec.executor = "null";
    item.spec.argv = {"nothing", std::to_string(item.ticket)};
    return item;
}

void ScriptedController::serve(Duration longest_wait) {
    bool heard = false;
    while (const auto incoming = transport_.receive()) {
        heard = true;
        Worker& worker = workers_.at(incoming->from);
        const Message message = worker.decoder.decode(incoming->bytes, "worker");
        if (const auto* report = std::get_if<Report>(&message)) take(incoming->from, *report);
        if (std::holds_alternative<Goodbye>(message)) worker.gone = true;
    }
    beat();
    if (!heard) transport_.wait({}, longest_wait);
}

void ScriptedController::take(PeerId peer, const Report& report) {
    Worker& worker = workers_.at(peer);
    for (const EndedEvent& event : report.ended) {
        if (worker.assigned.erase(event.ticket) != 1)
            throw Error(
                fmt::format("item {} of worker {} ended twice or was never given to it", event.ticket, peer));
        if (event.outcome.kind != OutcomeKind::succeeded)
            throw Error(fmt::format("item {} failed: {}", event.ticket, event.outcome.message));
    }
    send(peer, Acknowledge{report.number});
    supply(peer);
}

void ScriptedController::send(PeerId peer, const Message& message) {
    transport_.send(peer, workers_[peer].encoder.encode(message));
}

void ScriptedController::beat() {
    if (clock_.now() - last_beat_ < from_seconds(heartbeat_s_)) return;
    last_beat_ = clock_.now();
    for (const auto& [peer, worker] : workers_)
        if (!worker.gone) send(peer, Heartbeat{});
}

bool ScriptedController::all_ended(const std::set<PeerId>& doomed) const {
    return last_ticket_ == count_ && returned_.empty() &&
           std::all_of(workers_.begin(), workers_.end(), [&](const auto& entry) {
               return entry.second.assigned.empty() || doomed.contains(entry.first);
           });
}

} // namespace tessera::test
