#include "scripted_worker.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace tessera;
using test::Bench;

namespace {

using Tickets = std::vector<std::uint64_t>;

Assign assign(const Tickets& tickets, double duration_s = 1) {
    Assign message;
    for (const std::uint64_t ticket : tickets)
        message.items.push_back(Bench::item(ticket, duration_s));
    return message;
}

Tickets sorted(Tickets tickets) {
    std::sort(tickets.begin(), tickets.end());
    return tickets;
}

} // namespace

TEST_CASE("a worker runs what it is given, keeps each outcome before it reports it, and says goodbye") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        Bench bench(Bench::settings(), seed);
        bench.say(assign({1, 2, 3}));
        bench.say(assign({4, 5}));
        REQUIRE(bench.run([&] {
            REQUIRE(bench.ended_tickets().size() <= bench.sink.records.size());
            return bench.ended_tickets().size() == 5;
        }));
        CHECK(bench.executor.order == Tickets{1, 2, 3, 4, 5});
        CHECK(bench.executor.most_at_once == 2);
        CHECK(sorted(bench.ended_tickets()) == Tickets{1, 2, 3, 4, 5});
        bench.say(Stop{StopMode::finish});
        REQUIRE(bench.run_to_end());
        CHECK(bench.said_goodbye);
        CHECK(bench.worker.result().end == WorkerEnd::stopped);
        CHECK(bench.sink.synced);
    }
}

TEST_CASE("reports are numbered in order and at most one is unacknowledged") {
    Bench bench(Bench::settings());
    bench.acknowledging = false;
    bench.say(assign({1, 2, 3, 4, 5, 6}));
    CHECK_FALSE(bench.run([&] { return bench.reports.size() == 2; }, 20));
    CHECK(bench.sink.records.size() == 6); // no slot waited
    REQUIRE(bench.reports.size() == 1);
    CHECK(bench.reports[0].number == 1);
    bench.say(Acknowledge{1});
    REQUIRE(bench.run([&] { return bench.reports.size() == 2; }));
    CHECK(bench.reports[1].number == 2);
    CHECK(sorted(bench.ended_tickets()) == Tickets{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a started event is reported after the interval, and not when the outcome says it all") {
    Bench bench(Bench::settings());
    bench.say(assign({1}, 10));
    REQUIRE(bench.run([&] { return !bench.reports.empty(); }));
    CHECK(bench.reports[0].started.size() == 1);
    CHECK(bench.reports[0].ended.empty());

    bench.say(assign({2}, 0));
    REQUIRE(bench.run([&] { return bench.ended_tickets() == Tickets{2}; }));
    CHECK(bench.reports.back().started.empty());
}

TEST_CASE("metrics stream while an attempt runs; too many waiting are dropped, the outcome never") {
    WorkerSettings settings = Bench::settings();
    settings.reports.metrics_bytes = 1000;
    Bench bench(std::move(settings));
    bench.say(assign({1}, 10));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    MetricPoint point;
    point.name = "loss";
    bench.executor.stream(1, point);
    REQUIRE(bench.run([&] { return !bench.reports.empty() && !bench.reports.back().metrics.empty(); }));
    CHECK(bench.reports.back().metrics[0].points == std::vector<MetricPoint>{point});

    bench.acknowledging = false;
    for (int i = 0; i < 100; ++i)
        bench.executor.stream(1, point);
    bench.run([] { return false; }, 20);
    bench.acknowledging = true;
    bench.say(Acknowledge{bench.reports.back().number});
    REQUIRE(bench.run([&] { return bench.ended_tickets() == Tickets{1}; }));
    std::size_t points = 0;
    for (const Report& report : bench.reports)
        points += report.metrics.size();
    CHECK(points < 50);
}

TEST_CASE("a revoke gives back what was not started and nothing else") {
    Bench bench(Bench::settings(1));
    bench.say(assign({1, 2, 3, 4}));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    bench.say(Revoke{{1, 3, 99}});
    REQUIRE(bench.run([&] { return bench.ended_tickets().size() == 3; }));
    CHECK(bench.revoked == std::vector<Tickets>{{3}});
    CHECK(bench.executor.order == Tickets{1, 2, 4});
    bench.say(Revoke{{1}});
    REQUIRE(bench.run([&] { return bench.revoked.size() == 2; }));
    CHECK(bench.revoked[1].empty());
}

TEST_CASE("devices and memory limit what runs together, and smaller items overtake a waiting one") {
    WorkerSettings settings = Bench::settings(8);
    settings.welcome.devices = {"GPU-a", "GPU-b"};
    settings.welcome.memory_bytes = 100;
    Bench bench(std::move(settings));
    bench.say(Assign{{
        Bench::item(1, 2, {.cores = 1, .memory_bytes = 60, .devices = 1}),
        Bench::item(2, 2, {.cores = 1, .memory_bytes = 0, .devices = 2}),
        Bench::item(3, 2, {.cores = 1, .memory_bytes = 60, .devices = 0}),
        Bench::item(4, 2, {.cores = 1, .memory_bytes = 0, .devices = 1}),
    }});
    REQUIRE(bench.run([&] { return bench.ended_tickets().size() == 4; }));
    CHECK(bench.executor.order == Tickets{1, 4, 2, 3});
    CHECK(bench.executor.placements[1].devices == std::vector<std::string>{"GPU-a"});
    CHECK(bench.executor.placements[4].devices == std::vector<std::string>{"GPU-b"});
    CHECK(bench.executor.placements[2].devices == std::vector<std::string>{"GPU-a", "GPU-b"});
}

TEST_CASE("the head of the queue is not overtaken for ever") {
    Bench bench(Bench::settings(2));
    Assign message;
    message.items.push_back(Bench::item(1, 1.5));
    message.items.push_back(Bench::item(2, 1, {.cores = 2, .memory_bytes = 0, .devices = 0}));
    for (std::uint64_t ticket = 3; ticket < 1000; ++ticket)
        message.items.push_back(Bench::item(ticket, 1));
    bench.say(message);
    REQUIRE(bench.run([&] { return bench.ended_tickets().size() == 999; }, 2000));
    const auto& order = bench.executor.order;
    CHECK(std::find(order.begin(), order.end(), 2) - order.begin() < 300);
}

TEST_CASE("an item that could never run here is reported as failed with the reason") {
    Bench bench(Bench::settings(2));
    bench.say(Assign{{Bench::item(1, 1, {.cores = 1, .memory_bytes = 0, .devices = 4})}});
    REQUIRE(bench.run([&] { return bench.ended_tickets() == Tickets{1}; }));
    const OutcomeRecord& outcome = bench.reports.back().ended[0].outcome;
    CHECK(outcome.kind == OutcomeKind::failed);
    CHECK(outcome.failure == FailureClass::verdict);
    CHECK(outcome.message == "the step needs 4 devices, the worker has 0");
    CHECK(outcome.attempt.part == "20260101T000000Z-01234567");
    CHECK(bench.sink.records.size() == 1);
}

TEST_CASE("drain gives back the queue, stops what runs, and ends after the last acknowledgement") {
    Bench bench(Bench::settings(1));
    bench.say(assign({1, 2, 3}, 1000));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    bench.say(Stop{StopMode::drain});
    bench.say(assign({4}));
    REQUIRE(bench.run_to_end());
    CHECK(bench.revoked == std::vector<Tickets>{{2, 3}, {4}});
    CHECK(bench.executor.stops.front() == std::pair<std::uint64_t, StopReason>{1, StopReason::preempt});
    REQUIRE(bench.ended_tickets() == Tickets{1});
    CHECK(bench.reports.back().ended[0].outcome.kind == OutcomeKind::preempted);
    CHECK(bench.said_goodbye);
}

TEST_CASE("a drain can become a kill, and not the other way round") {
    Bench bench(Bench::settings(1));
    bench.say(assign({1}, 1000));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    bench.say(Stop{StopMode::drain});
    bench.say(Stop{StopMode::kill});
    bench.say(Stop{StopMode::finish});
    REQUIRE(bench.run_to_end());
    REQUIRE(bench.executor.stops.size() == 2);
    CHECK(bench.executor.stops[1].second == StopReason::kill);
}

TEST_CASE("an abandoned worker ends without acknowledgements and leaves its outcomes in the spool") {
    Bench bench(Bench::settings(1));
    bench.acknowledging = false;
    bench.say(assign({1, 2}, 1000));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    bench.say(Stop{StopMode::abandon});
    REQUIRE(bench.run_to_end());
    CHECK(bench.said_goodbye);
    REQUIRE(bench.sink.records.size() == 1);
    CHECK(bench.sink.records[0].kind == OutcomeKind::preempted);
}

TEST_CASE("a worker that waits for an acknowledgement does not end") {
    Bench bench(Bench::settings(1));
    bench.acknowledging = false;
    bench.say(assign({1, 2}));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    bench.say(Stop{StopMode::finish});
    REQUIRE_FALSE(bench.run([] { return false; }, 20));
    CHECK(bench.alive);
    CHECK(bench.revoked == std::vector<Tickets>{{2}});
    CHECK(bench.sink.records.size() == 1);
    CHECK(bench.executor.stops.empty());
    bench.acknowledging = true;
    bench.say(Acknowledge{1});
    REQUIRE(bench.run_to_end());
    CHECK(bench.ended_tickets() == Tickets{1});
    CHECK(bench.said_goodbye);
}

TEST_CASE("heartbeats go out when there is nothing else to say") {
    Bench bench(Bench::settings());
    bench.run([] { return false; }, 51);
    CHECK(bench.heartbeats == 10);
}

TEST_CASE("a silent controller makes the worker drain, sync its spool and end") {
    Bench bench(Bench::settings(1));
    bench.beating = false;
    bench.say(assign({1, 2}, 1000));
    const Moment start = bench.clock.now();
    REQUIRE(bench.run_to_end());
    CHECK(bench.worker.result().end == WorkerEnd::controller_silent);
    CHECK(seconds(bench.clock.now() - start) == doctest::Approx(31).epsilon(0.01));
    CHECK(bench.executor.order == Tickets{1});
    REQUIRE(bench.sink.records.size() == 1);
    CHECK(bench.sink.records[0].kind == OutcomeKind::preempted);
    CHECK(bench.sink.synced);
    CHECK_FALSE(bench.said_goodbye);
}

TEST_CASE("a lost controller, at any moment, costs no outcome that the spool could have") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        Bench bench(Bench::settings(), seed);
        bench.say(assign({1, 2, 3, 4, 5, 6, 7, 8}));
        const double life_s = static_cast<double>(seed % 50) / 10;
        bench.run([] { return false; }, life_s);
        bench.network.lose(0, true);
        bench.beating = false;
        REQUIRE(bench.run_to_end());
        CHECK(bench.worker.result().end == WorkerEnd::controller_lost);
        CHECK(bench.sink.records.size() == bench.executor.order.size());
        CHECK(bench.sink.synced);
    }
}

TEST_CASE("a controller that cannot be understood counts as lost") {
    Bench bench(Bench::settings(1));
    bench.say(assign({1}, 1000));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    bench.controller->send(1, "\xff\xff");
    REQUIRE(bench.run_to_end());
    CHECK(bench.worker.result().end == WorkerEnd::controller_garbled);
    CHECK_FALSE(bench.worker.result().detail.empty());
    CHECK(bench.sink.records.size() == 1);
}

TEST_CASE("a worker whose spool fails stops in order and still reports") {
    Bench bench(Bench::settings(1));
    bench.say(assign({1, 2, 3}));
    REQUIRE(bench.run([&] { return bench.executor.order.size() == 1; }));
    bench.sink.full = true;
    REQUIRE(bench.run_to_end());
    CHECK(bench.worker.result().end == WorkerEnd::spool_failed);
    CHECK(bench.worker.result().detail.find("spool-1") != std::string::npos);
    CHECK(bench.ended_tickets() == Tickets{1});
    CHECK(bench.revoked == std::vector<Tickets>{{2, 3}});
    CHECK(bench.said_goodbye);
}

TEST_CASE("outcomes are synced when the controller is slow to acknowledge them, else not") {
    Bench bench(Bench::settings(1));
    bench.say(assign({1, 2, 3}));
    bench.run([] { return false; }, 10);
    CHECK(bench.sink.syncs == 0);
    bench.acknowledging = false;
    bench.say(assign({4}));
    bench.run([] { return false; }, 10);
    CHECK(bench.sink.syncs == 1);
}

TEST_CASE("nothing starts while too much waits to be reported, and it goes on afterwards") {
    WorkerSettings settings = Bench::settings(1);
    settings.waiting_bytes = 2000;
    settings.reports.report_bytes = 2000;
    Bench bench(std::move(settings));
    bench.acknowledging = false;
    Tickets all;
    for (std::uint64_t ticket = 1; ticket <= 40; ++ticket)
        all.push_back(ticket);
    bench.say(assign(all, 0.1));
    bench.run([] { return false; }, 20);
    CHECK(bench.executor.order.size() < 10);
    bench.acknowledging = true;
    bench.say(Acknowledge{1});
    REQUIRE(bench.run([&] { return bench.ended_tickets().size() == 40; }));
    for (const Report& report : bench.reports)
        CHECK(report.ended.size() < 10);
}
