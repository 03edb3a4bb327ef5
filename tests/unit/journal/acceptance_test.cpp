#include "sample.hpp"

#include <tessera/journal/acceptance.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

using namespace tessera;

namespace {

const std::string p1 = "20260101T000000Z-00000001";
const std::string p2 = "20260102T000000Z-00000002";
const std::string p3 = "20260103T000000Z-00000003";

StepKey step_key(std::uint8_t n) {
    StepKey key;
    key.bytes[0] = n;
    return key;
}

const StepKey s1 = step_key(1);

OutcomeRecord outcome(const AttemptId& attempt, OutcomeKind kind = OutcomeKind::succeeded,
                      std::uint32_t generation = 1, ClaimRef claim = {"all", 1}) {
    OutcomeRecord record;
    record.attempt = attempt;
    record.kind = kind;
    record.generation = generation;
    record.claim = std::move(claim);
    return record;
}

DispatchedRecord dispatched(const StepKey& step, std::uint32_t number, std::uint32_t generation = 1,
                            ClaimRef claim = {"all", 1}) {
    DispatchedRecord record;
    record.claim = std::move(claim);
    record.items.push_back({step, number, generation, {}});
    return record;
}

ClaimRecord claim(std::uint32_t epoch, const std::string& predecessor, std::uint64_t last) {
    return {{"all", epoch}, predecessor, last};
}

InvalidatedRecord raised(const StepKey& step, std::uint32_t generation) {
    InvalidatedRecord record;
    record.items.push_back({step, generation});
    return record;
}

} // namespace

TEST_CASE("an unknown step has nothing") {
    const StepView view = Acceptance().step(s1);
    CHECK(view.generation == 1);
    CHECK_FALSE(view.accepted);
    CHECK(view.attempts == 0);
    CHECK_FALSE(Acceptance().attempt({p1, s1, 1}));
}

TEST_CASE("a dispatched attempt is open until its outcome") {
    Acceptance acceptance;
    acceptance.add({p1, 3}, dispatched(s1, 1));
    CHECK(acceptance.step(s1).open == 1);
    CHECK(acceptance.open_attempts().size() == 1);
    CHECK(acceptance.attempt({p1, s1, 1})->standing == Standing::open);
    CHECK_FALSE(acceptance.has_outcome({p1, s1, 1}));
    acceptance.add({p1, 4}, outcome({p1, s1, 1}));
    const StepView view = acceptance.step(s1);
    REQUIRE(view.accepted);
    CHECK(view.accepted->id == AttemptId{p1, s1, 1});
    CHECK(view.accepted->outcome == FramePosition{p1, 4});
    CHECK(view.accepted->dispatched == FramePosition{p1, 3});
    CHECK(view.open == 0);
    CHECK(view.attempts == 1);
    CHECK(acceptance.open_attempts().empty());
    CHECK(acceptance.has_outcome({p1, s1, 1}));
}

TEST_CASE("the first success of the current generation is accepted") {
    Acceptance acceptance;
    acceptance.add({p2, 2}, outcome({p2, s1, 2}));
    acceptance.add({p1, 9}, outcome({p1, s1, 1}));
    acceptance.add({p2, 1}, outcome({p2, s1, 1}, OutcomeKind::failed));
    CHECK(acceptance.step(s1).accepted->id == AttemptId{p1, s1, 1});
    CHECK(acceptance.attempt({p2, s1, 2})->standing == Standing::superseded);
    CHECK(acceptance.attempt({p2, s1, 1})->standing == Standing::unsuccessful);
    CHECK(acceptance.step(s1).last->id == AttemptId{p2, s1, 2});
    CHECK(acceptance.step(s1).highest_number == 2);
}

TEST_CASE("a raised generation keeps earlier results but does not accept them") {
    Acceptance acceptance;
    acceptance.add({p1, 1}, outcome({p1, s1, 1}));
    acceptance.add({p1, 2}, outcome({p1, s1, 2}, OutcomeKind::failed));
    acceptance.add(raised(s1, 2));
    StepView view = acceptance.step(s1);
    CHECK(view.generation == 2);
    CHECK_FALSE(view.accepted);
    CHECK(view.attempts == 2);
    CHECK(view.generation_attempts == 0);
    CHECK(view.failure_count(FailureClass::exit) == 0);
    CHECK(acceptance.attempt({p1, s1, 1})->standing == Standing::superseded);
    acceptance.add({p2, 1}, outcome({p2, s1, 3}, OutcomeKind::succeeded, 2));
    CHECK(acceptance.step(s1).accepted->id == AttemptId{p2, s1, 3});
}

TEST_CASE("a generation that only a dispatched frame tells of counts too") {
    Acceptance acceptance;
    acceptance.add({p1, 1}, outcome({p1, s1, 1}));
    acceptance.add({p2, 1}, dispatched(s1, 2, 2));
    CHECK(acceptance.step(s1).generation == 2);
    CHECK_FALSE(acceptance.step(s1).accepted);
}

TEST_CASE("failures count by class since the current generation") {
    Acceptance acceptance;
    OutcomeRecord crash = outcome({p1, s1, 1}, OutcomeKind::failed);
    crash.failure = FailureClass::crash;
    crash.message = "signal 11";
    acceptance.add({p1, 1}, crash);
    acceptance.add({p1, 2}, outcome({p1, s1, 2}, OutcomeKind::timed_out));
    acceptance.add({p1, 3}, outcome({p1, s1, 3}, OutcomeKind::preempted));
    acceptance.add({p1, 4}, outcome({p1, s1, 4}, OutcomeKind::lost));
    acceptance.add({p1, 5}, outcome({p1, s1, 5}, OutcomeKind::lost));
    const StepView view = acceptance.step(s1);
    CHECK(view.failure_count(FailureClass::crash) == 1);
    CHECK(view.failure_count(FailureClass::timeout) == 1);
    CHECK(view.failure_count(FailureClass::preempted) == 1);
    CHECK(view.failure_count(FailureClass::lost) == 2);
    CHECK(view.last->id.number == 5);
    CHECK(acceptance.attempt({p1, s1, 1})->message == "signal 11");
}

TEST_CASE("frames after the last honoured one of a predecessor are void") {
    Acceptance acceptance;
    acceptance.add({p2, 2}, claim(2, p1, 10));
    acceptance.add({p1, 10}, dispatched(s1, 1));
    acceptance.add({p1, 11}, outcome({p1, s1, 1}));
    acceptance.add({p1, 12}, dispatched(s1, 2));
    CHECK_FALSE(acceptance.step(s1).accepted);
    CHECK(acceptance.attempt({p1, s1, 1})->standing == Standing::open);
    CHECK(acceptance.attempt({p1, s1, 2})->standing == Standing::not_honoured);
    CHECK(acceptance.step(s1).attempts == 1);
    CHECK(acceptance.step(s1).highest_number == 2);
    CHECK(acceptance.is_void({p1, 11}, {"all", 1}));
    CHECK_FALSE(acceptance.is_void({p1, 10}, {"all", 1}));
    CHECK_FALSE(acceptance.is_void({p1, 11}, {"other", 1}));
    CHECK_FALSE(acceptance.is_void({p2, 11}, {"all", 2}));
    CHECK(acceptance.has_outcome({p1, s1, 1}));
}

TEST_CASE("a part that claims again later is honoured from its new epoch on") {
    Acceptance acceptance;
    acceptance.add({p2, 2}, claim(2, p1, 10));
    acceptance.add({p1, 20}, claim(3, p2, 5));
    acceptance.add({p1, 21}, outcome({p1, s1, 1}, OutcomeKind::succeeded, 1, {"all", 3}));
    CHECK(acceptance.step(s1).accepted);
    CHECK(acceptance.is_void({p2, 6}, {"all", 2}));
}

TEST_CASE("a void claim fences nobody") {
    Acceptance acceptance;
    acceptance.add({p1, 15}, outcome({p1, s1, 1}));
    acceptance.add({p2, 7}, claim(2, p1, 10)); // written after p3 had taken over
    CHECK_FALSE(acceptance.step(s1).accepted);
    acceptance.add({p3, 2}, claim(3, p2, 0));
    acceptance.add({p3, 3}, claim(3, p1, 15));
    CHECK(acceptance.step(s1).accepted);
}

TEST_CASE("a harvested attempt counts once") {
    Acceptance acceptance;
    acceptance.add({p1, 5}, dispatched(s1, 1));
    acceptance.add({p2, 3}, claim(2, p1, 5));
    acceptance.add({p1, 6}, outcome({p1, s1, 1})); // void: after the takeover
    acceptance.add({p2, 4}, outcome({p1, s1, 1}));
    acceptance.add({p3, 9}, outcome({p1, s1, 1}));
    const StepView view = acceptance.step(s1);
    CHECK(view.attempts == 1);
    REQUIRE(view.accepted);
    CHECK(view.accepted->outcome == FramePosition{p2, 4});
}

TEST_CASE("adding a frame twice changes nothing") {
    Acceptance acceptance;
    for (int round = 0; round < 2; ++round) {
        acceptance.add({p1, 1}, dispatched(s1, 1));
        acceptance.add({p1, 2}, outcome({p1, s1, 1}, OutcomeKind::failed));
        acceptance.add({p2, 1}, claim(2, p1, 2));
    }
    CHECK(acceptance.step(s1).attempts == 1);
    CHECK(acceptance.step(s1).failure_count(FailureClass::exit) == 1);
}

namespace {

using Frames = std::vector<std::pair<FramePosition, Record>>;

/// A history of three parts with few steps, so that every rule meets every other.
Frames random_history(sample::Random& random) {
    Frames frames;
    const std::vector<std::string> parts = {p1, p2, p3};
    for (std::size_t part = 0; part < parts.size(); ++part) {
        for (std::uint64_t sequence = 1; sequence <= 12; ++sequence) {
            const StepKey step = step_key(static_cast<std::uint8_t>(1 + sample::number(random, 3)));
            const ClaimRef ref{"all", static_cast<std::uint32_t>(part + 1)};
            const std::uint32_t number = 1 + sample::number(random, 3);
            const std::uint32_t generation = 1 + sample::number(random, 2);
            Record record;
            switch (random() % 5) {
            case 0:
                record = dispatched(step, number, generation, ref);
                break;
            case 1:
                record = raised(step, generation);
                break;
            case 2:
                record = claim(ref.epoch, part == 0 ? "" : parts[random() % part], random() % 12);
                break;
            default:
                record = outcome({parts[random() % (part + 1)], step, number},
                                 static_cast<OutcomeKind>(random() % 2), generation, ref);
            }
            frames.emplace_back(FramePosition{parts[part], sequence}, record);
        }
    }
    return frames;
}

std::string picture(const Acceptance& acceptance) {
    std::string text;
    for (std::uint8_t n = 1; n <= 3; ++n) {
        const StepView view = acceptance.step(step_key(n));
        text += "step " + std::to_string(view.generation) + " " + std::to_string(view.attempts) + " " +
                std::to_string(view.open) + " " + std::to_string(view.generation_attempts) + "\n";
        for (const std::uint32_t count : view.failures)
            text += std::to_string(count) + " ";
        if (view.last) text += "last " + view.last->id.text() + "\n";
        for (const AttemptView& attempt : acceptance.attempts(step_key(n))) {
            text += attempt.id.text() + " " + std::string(name(attempt.standing));
            if (attempt.outcome) text += attempt.outcome->part + std::to_string(attempt.outcome->sequence);
            text += "\n";
        }
    }
    return text;
}

} // namespace

TEST_CASE("the answer does not depend on the order of the frames") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        sample::Random random(seed);
        Frames frames = random_history(random);
        Acceptance in_order;
        for (const auto& [position, record] : frames)
            in_order.add(position, record);
        std::shuffle(frames.begin(), frames.end(), random);
        Acceptance shuffled;
        for (const auto& [position, record] : frames) {
            shuffled.add(position, record);
            if (random() % 4 == 0) (void)shuffled.step(s1); // asking in between changes nothing
        }
        CHECK(picture(in_order) == picture(shuffled));
        for (std::uint8_t n = 1; n <= 3; ++n) {
            const auto attempts = in_order.attempts(step_key(n));
            CHECK(std::count_if(attempts.begin(), attempts.end(), [](const AttemptView& attempt) {
                      return attempt.standing == Standing::accepted;
                  }) <= 1);
        }
    }
}
