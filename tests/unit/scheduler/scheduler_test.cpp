#include <tessera/scheduler/scheduler.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace tessera;

namespace {

constexpr Resources one_core{1, 0, 0};

StepEntry step(Resources resources = one_core, std::vector<StepIndex> needs = {}) {
    StepEntry entry;
    entry.resources = resources;
    entry.needs = std::move(needs);
    return entry;
}

/// A scheduler with a clock of its own whose bookkeeping is checked after each event.
struct Scene {
    explicit Scene(std::size_t steps)
        : scheduler(steps) {}

    std::vector<Assignment> assign() {
        auto out = scheduler.assign(now);
        scheduler.sanity_check();
        return out;
    }

    void succeed(StepIndex index, double duration_s = 60) {
        scheduler.started(index);
        scheduler.ended(index, AttemptEnd::succeeded, FailureClass::none, duration_s, now);
        scheduler.sanity_check();
    }

    void fail(StepIndex index, FailureClass failure) {
        scheduler.started(index);
        scheduler.ended(index, AttemptEnd::failed, failure, 1, now);
        scheduler.sanity_check();
    }

    void pass(double seconds_s) { now += from_seconds(seconds_s); }

    Scheduler scheduler;
    Moment now{};
};

} // namespace

TEST_CASE("steps spread over the workers and no worker gets more than it can run") {
    Scene scene(8);
    for (StepIndex i = 0; i < 8; ++i)
        scene.scheduler.add_step(i, step());
    scene.scheduler.add_worker({2, 0, 0});
    scene.scheduler.add_worker({2, 0, 0});
    CHECK(scene.assign() == std::vector<Assignment>{{0, 0}, {1, 1}, {0, 2}, {1, 3}});
    CHECK(scene.assign().empty());
    scene.succeed(1);
    CHECK(scene.assign() == std::vector<Assignment>{{1, 4}});
    CHECK_FALSE(scene.scheduler.finished());
}

TEST_CASE("a step starts only when all that it needs has succeeded") {
    Scene scene(4);
    scene.scheduler.add_worker({4, 0, 0});
    scene.scheduler.add_step(3, step(one_core, {1, 2}));
    scene.scheduler.add_step(1, step(one_core, {0}));
    scene.scheduler.add_step(2, step(one_core, {0}));
    scene.scheduler.add_step(0, step());
    CHECK(scene.assign() == std::vector<Assignment>{{0, 0}});
    scene.succeed(0);
    CHECK(scene.assign().size() == 2);
    scene.succeed(1);
    CHECK(scene.assign().empty());
    scene.succeed(2);
    CHECK(scene.assign() == std::vector<Assignment>{{0, 3}});
    scene.succeed(3);
    CHECK(scene.scheduler.finished());
    CHECK(scene.scheduler.count(StepStatus::succeeded) == 4);
}

TEST_CASE("a failed step blocks all that depends on it and nothing else") {
    Scene scene(4);
    scene.scheduler.add_worker({4, 0, 0});
    scene.scheduler.add_step(0, step());
    scene.scheduler.add_step(1, step(one_core, {0}));
    scene.scheduler.add_step(2, step(one_core, {1}));
    scene.scheduler.add_step(3, step());
    scene.assign();
    scene.fail(0, FailureClass::exit);
    CHECK(scene.scheduler.status(0) == StepStatus::failed);
    CHECK(scene.scheduler.status(1) == StepStatus::blocked);
    CHECK(scene.scheduler.status(2) == StepStatus::blocked);
    scene.succeed(3);
    CHECK(scene.scheduler.finished());
}

TEST_CASE("a step that succeeded in an earlier part is not run and releases what needs it") {
    Scene scene(2);
    scene.scheduler.add_worker({1, 0, 0});
    StepEntry done = step();
    done.succeeded = true;
    scene.scheduler.add_step(1, step(one_core, {0}));
    scene.scheduler.add_step(0, done);
    CHECK(scene.assign() == std::vector<Assignment>{{0, 1}});
}

TEST_CASE("each failure class has its own limit, and the pause doubles") {
    Scene scene(1);
    scene.scheduler.add_worker({1, 0, 0});
    StepEntry entry = step();
    entry.retry.crash = 2;
    entry.retry.lost = 1;
    entry.retry.backoff_s = 10;
    scene.scheduler.add_step(0, entry);
    REQUIRE(scene.assign().size() == 1);
    scene.fail(0, FailureClass::crash);
    CHECK(scene.scheduler.next_retry() == scene.now + from_seconds(10));
    scene.pass(9.9);
    CHECK(scene.assign().empty());
    scene.pass(0.1);
    REQUIRE(scene.assign().size() == 1);
    scene.fail(0, FailureClass::lost);
    CHECK(scene.scheduler.status(0) == StepStatus::delayed);
    scene.pass(10);
    REQUIRE(scene.assign().size() == 1);
    scene.fail(0, FailureClass::crash);
    scene.pass(19.9);
    CHECK(scene.assign().empty());
    scene.pass(0.1);
    REQUIRE(scene.assign().size() == 1);
    scene.fail(0, FailureClass::crash);
    CHECK(scene.scheduler.status(0) == StepStatus::failed);
    CHECK(scene.scheduler.finished());
}

TEST_CASE("failures of earlier parts count, preemption never does") {
    Scene scene(1);
    scene.scheduler.add_worker({1, 0, 0});
    StepEntry entry = step();
    entry.failures[FailureClass::crash] = 1;
    scene.scheduler.add_step(0, entry);
    for (int i = 0; i < 300; ++i) {
        REQUIRE(scene.assign().size() == 1);
        scene.scheduler.ended(0, AttemptEnd::preempted, FailureClass::preempted, 1, scene.now);
    }
    REQUIRE(scene.assign().size() == 1);
    scene.fail(0, FailureClass::crash);
    CHECK(scene.scheduler.status(0) == StepStatus::failed);
}

TEST_CASE("a step whose retries were used up in earlier parts is failed from the start") {
    Scene scene(2);
    scene.scheduler.add_worker({1, 0, 0});
    StepEntry entry = step();
    entry.failures[FailureClass::exit] = 1;
    scene.scheduler.add_step(1, step(one_core, {0}));
    scene.scheduler.add_step(0, entry);
    CHECK(scene.assign().empty());
    CHECK(scene.scheduler.status(0) == StepStatus::failed);
    CHECK(scene.scheduler.status(1) == StepStatus::blocked);
    CHECK(scene.scheduler.finished());
}

TEST_CASE("a large step is not starved by small ones") {
    Scene scene(9);
    scene.scheduler.add_worker({4, 0, 0});
    for (StepIndex i = 0; i < 8; ++i)
        scene.scheduler.add_step(i, step());
    REQUIRE(scene.assign().size() == 4);
    scene.scheduler.add_step(8, step({4, 0, 0}));
    scene.succeed(0);
    CHECK(scene.assign().empty());
    scene.succeed(1);
    scene.succeed(2);
    CHECK(scene.assign().empty());
    scene.succeed(3);
    CHECK(scene.assign() == std::vector<Assignment>{{0, 8}});
}

TEST_CASE("devices and memory limit what runs at once") {
    Scene scene(6);
    scene.scheduler.add_worker({8, 1000, 2});
    for (StepIndex i = 0; i < 3; ++i)
        scene.scheduler.add_step(i, step({1, 0, 1}));
    for (StepIndex i = 3; i < 6; ++i)
        scene.scheduler.add_step(i, step({1, 400, 0}));
    const auto out = scene.assign();
    CHECK(out == std::vector<Assignment>{{0, 0}, {0, 1}});
    scene.succeed(0);
    CHECK(scene.assign() == std::vector<Assignment>{{0, 2}, {0, 3}, {0, 4}});
}

TEST_CASE("what fits no worker is named and does not keep the run from ending") {
    Scene scene(2);
    scene.scheduler.add_worker({2, 0, 0});
    scene.scheduler.add_step(0, step({1, 0, 4}));
    scene.scheduler.add_step(1, step());
    REQUIRE(scene.assign() == std::vector<Assignment>{{0, 1}});
    scene.succeed(1);
    CHECK(scene.scheduler.finished());
    CHECK(scene.scheduler.unplaceable() == std::vector<StepIndex>{0});
    CHECK(scene.scheduler.why_not(0).find("4 devices") != std::string::npos);
}

TEST_CASE("draining hands out nothing and ends when the workers are empty") {
    Scene scene(4);
    scene.scheduler.add_worker({2, 0, 0});
    for (StepIndex i = 0; i < 4; ++i)
        scene.scheduler.add_step(i, step());
    REQUIRE(scene.assign().size() == 2);
    scene.scheduler.drain();
    CHECK_FALSE(scene.scheduler.finished());
    scene.succeed(0);
    CHECK(scene.assign().empty());
    scene.scheduler.returned(1);
    CHECK(scene.scheduler.finished());
    CHECK(scene.scheduler.count(StepStatus::ready) == 3);
}

TEST_CASE("a lost worker's steps go to the others") {
    Scene scene(3);
    scene.scheduler.add_worker({2, 0, 0});
    for (StepIndex i = 0; i < 3; ++i)
        scene.scheduler.add_step(i, step());
    REQUIRE(scene.assign().size() == 2);
    const auto lost = scene.scheduler.remove_worker(0);
    CHECK(lost.size() == 2);
    for (const StepIndex index : lost)
        scene.fail(index, FailureClass::lost);
    scene.scheduler.add_worker({4, 0, 0});
    scene.pass(10);
    const auto out = scene.assign();
    CHECK(out.size() == 3);
    CHECK(std::all_of(out.begin(), out.end(), [](const Assignment& a) { return a.worker == 1; }));
}

TEST_CASE("short steps are prefetched, and an idle worker gets its share back") {
    Scene scene(1000);
    for (StepIndex i = 0; i < 1000; ++i)
        scene.scheduler.add_step(i, step());
    scene.scheduler.add_worker({1, 0, 0});
    REQUIRE(scene.assign().size() == 1);
    scene.succeed(0, 0.001);
    const auto out = scene.assign();
    CHECK(out.size() > 50);
    CHECK(out.size() <= 102);
    while (scene.scheduler.count(StepStatus::ready) > 0) {
        for (StepIndex i = 0; i < 1000; ++i)
            if (scene.scheduler.status(i) == StepStatus::assigned) scene.succeed(i, 0.001);
        scene.assign();
    }
    const std::size_t waiting = scene.scheduler.count(StepStatus::assigned);
    REQUIRE(waiting > 1);
    scene.scheduler.add_worker({1, 0, 0});
    const auto back = scene.scheduler.steal();
    CHECK(back.size() == (waiting + 1) / 2);
    for (const Assignment& assignment : back)
        scene.scheduler.returned(assignment.step);
    const auto again = scene.assign();
    CHECK(std::any_of(again.begin(), again.end(), [](const Assignment& a) { return a.worker == 1; }));
}

TEST_CASE("long steps are never prefetched") {
    Scene scene(10);
    for (StepIndex i = 0; i < 10; ++i)
        scene.scheduler.add_step(i, step());
    scene.scheduler.add_worker({2, 0, 0});
    REQUIRE(scene.assign().size() == 2);
    scene.succeed(0, 5);
    CHECK(scene.assign().size() == 1);
}

TEST_CASE("any order of events ends with a verdict for every step") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        constexpr StepIndex steps = 60;
        Scene scene(steps);
        for (StepIndex i = 0; i < steps; ++i) {
            StepEntry entry = step(
                {1 + static_cast<std::uint32_t>(random() % 3), 0, static_cast<std::uint32_t>(random() % 2)});
            if (i > 0 && random() % 3 == 0) entry.needs.push_back(static_cast<StepIndex>(random() % i));
            scene.scheduler.add_step(i, entry);
        }
        for (int w = 0; w < 3; ++w)
            scene.scheduler.add_worker({4, 0, 2});
        std::set<StepIndex> at_workers;
        while (!scene.scheduler.finished()) {
            for (const Assignment& assignment : scene.assign())
                at_workers.insert(assignment.step);
            if (at_workers.empty()) {
                scene.pass(100);
                continue;
            }
            auto chosen = at_workers.begin();
            std::advance(chosen, static_cast<std::ptrdiff_t>(random() % at_workers.size()));
            const StepIndex index = *chosen;
            at_workers.erase(chosen);
            switch (random() % 5) {
            case 0:
                scene.fail(index, random() % 2 == 0 ? FailureClass::crash : FailureClass::exit);
                break;
            case 1:
                scene.scheduler.returned(index);
                break;
            case 2:
                scene.scheduler.ended(index, AttemptEnd::preempted, FailureClass::preempted, 0.01, scene.now);
                break;
            default:
                scene.succeed(index, 0.001 * static_cast<double>(random() % 1000));
            }
            scene.scheduler.sanity_check();
        }
        const std::size_t verdicts = scene.scheduler.count(StepStatus::succeeded) +
                                     scene.scheduler.count(StepStatus::failed) +
                                     scene.scheduler.count(StepStatus::blocked);
        CHECK(verdicts == steps);
    }
}
