#pragma once

#include <tessera/protocol/codec.hpp>
#include <tessera/protocol/simulated_transport.hpp>
#include <tessera/worker/worker_loop.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Attempts take the time that their timeout_s says, and a second to end when stopped with preempt.
class ScriptedExecutor final : public Executor {
public:
    explicit ScriptedExecutor(const Clock& clock)
        : clock_(clock) {}

    void start(const WorkItem& item, const Placement& placement) override {
        const Moment end = clock_.now() + from_seconds(item.spec.timeout_s.value_or(1));
        running_[item.ticket] = {item, end, OutcomeKind::succeeded};
        placements[item.ticket] = placement;
        order.push_back(item.ticket);
        most_at_once = std::max(most_at_once, running_.size());
        events_.emplace_back(StartedEvent{item.ticket, clock_.wall_ns(), placement.devices});
    }

    void stop(std::uint64_t ticket, StopReason reason) override {
        stops.emplace_back(ticket, reason);
        const auto attempt = running_.find(ticket);
        if (attempt == running_.end()) return;
        const double grace_s = reason == StopReason::kill ? 0 : 1;
        attempt->second.end = std::min(attempt->second.end, clock_.now() + from_seconds(grace_s));
        attempt->second.kind = OutcomeKind::preempted;
    }

    std::vector<pollfd> poll_fds() const override { return {}; }

    std::optional<Moment> next_deadline() const override {
        std::optional<Moment> next;
        for (const auto& [ticket, attempt] : running_)
            next = next ? std::min(*next, attempt.end) : attempt.end;
        if (!events_.empty()) next = clock_.now();
        return next;
    }

    std::vector<Event> poll() override {
        for (auto it = running_.begin(); it != running_.end();) {
            if (it->second.end > clock_.now()) {
                ++it;
                continue;
            }
            EndedEvent ended{it->first, {}};
            ended.outcome.attempt.step = it->second.item.step;
            ended.outcome.kind = it->second.kind;
            events_.emplace_back(std::move(ended));
            it = running_.erase(it);
        }
        return std::exchange(events_, {});
    }

    void stream(std::uint64_t ticket, MetricPoint point) {
        events_.emplace_back(MetricsEvent{ticket, {std::move(point)}});
    }

    std::vector<std::uint64_t> order;
    std::map<std::uint64_t, Placement> placements;
    std::vector<std::pair<std::uint64_t, StopReason>> stops;
    std::size_t most_at_once = 0;

private:
    struct Attempt {
        WorkItem item;
        Moment end;
        OutcomeKind kind;
    };

    const Clock& clock_;
    std::map<std::uint64_t, Attempt> running_;
    std::vector<Event> events_;
};

class MemorySink final : public OutcomeSink {
public:
    void append(const OutcomeRecord& record) override {
        if (full) throw IoError("write", "spool-1", 28);
        records.push_back(record);
        synced = false;
    }

    void sync() override {
        if (full) throw IoError("fdatasync", "spool-1", 28);
        synced = true;
        ++syncs;
    }

    std::vector<OutcomeRecord> records;
    bool synced = true;
    int syncs = 0;
    bool full = false;
};

/// A controller by hand and a worker in one simulated network.
class Bench {
public:
    explicit Bench(WorkerSettings settings, std::uint64_t seed = 1)
        : network(clock, seed)
        , controller(network.endpoint(0))
        , worker_end(network.endpoint(1))
        , executor(clock)
        , worker(*worker_end, executor, sink, clock, std::move(settings)) {}

    static WorkerSettings settings(std::uint32_t cores = 2) {
        WorkerSettings out;
        out.welcome.worker = 1;
        out.welcome.part = "20260101T000000Z-01234567";
        out.welcome.core_slots = cores;
        for (std::uint32_t cpu = 0; cpu < cores; ++cpu)
            out.welcome.cpus.push_back(cpu);
        out.host = "node-1";
        return out;
    }

    static WorkItem item(std::uint64_t ticket, double duration_s = 1, Resources resources = {}) {
        WorkItem out;
        out.ticket = ticket;
        out.step.bytes[0] = static_cast<std::uint8_t>(ticket);
        out.spec.name = "workload";
        out.spec.timeout_s = duration_s;
        out.spec.resources = resources;
        return out;
    }

    void say(const Message& message) { controller->send(1, encoder_.encode(message)); }

    /// Runs both sides until `until` is true, or the worker has ended, or `limit_s` of simulated time is
    /// over.
    template <class Until>
    bool run(const Until& until, double limit_s = 100) {
        const Moment limit = clock.now() + from_seconds(limit_s);
        for (;;) {
            alive = alive && worker.step();
            listen();
            if (until()) return true;
            if (!alive || clock.now() >= limit) return false;
            worker.wait();
            if (beating) controller->wait({}, from_seconds(1));
            if (!network.advance()) return false;
            if (beating && clock.now() - last_beat_ >= from_seconds(1)) {
                last_beat_ = clock.now();
                say(Heartbeat{});
            }
        }
    }

    /// Until the worker has ended.
    bool run_to_end(double limit_s = 100) {
        run([] { return false; }, limit_s);
        listen();
        while (network.advance())
            listen();
        return !alive;
    }

    void listen() {
        while (const auto incoming = controller->receive()) {
            Message message = decoder_.decode(incoming->bytes, "worker");
            if (auto* report = std::get_if<Report>(&message)) take(std::move(*report));
            if (const auto* revoked = std::get_if<Revoked>(&message))
                this->revoked.push_back(revoked->tickets);
            if (std::holds_alternative<Goodbye>(message)) said_goodbye = true;
            if (std::holds_alternative<Heartbeat>(message)) ++heartbeats;
        }
    }

    std::vector<std::uint64_t> ended_tickets() const {
        std::vector<std::uint64_t> tickets;
        for (const Report& report : reports)
            for (const EndedEvent& event : report.ended)
                tickets.push_back(event.ticket);
        return tickets;
    }

    VirtualClock clock;
    SimulatedNetwork network;
    std::unique_ptr<Transport> controller;
    std::unique_ptr<Transport> worker_end;
    ScriptedExecutor executor;
    MemorySink sink;
    WorkerLoop worker;

    bool acknowledging = true;
    bool beating = true;
    bool alive = true;
    std::vector<Report> reports;
    std::vector<std::vector<std::uint64_t>> revoked;
    bool said_goodbye = false;
    int heartbeats = 0;

private:
    void take(Report report) {
        if (acknowledging) say(Acknowledge{report.number});
        reports.push_back(std::move(report));
    }

    MessageEncoder encoder_;
    MessageDecoder decoder_;
    Moment last_beat_{};
};

} // namespace tessera::test
