#include "campaigns.hpp"

#include <tessera/base/error.hpp>
#include <tessera/controller/run_selection.hpp>

#include <doctest/doctest.h>

#include <map>

using namespace tessera;

namespace {

struct Past {
    std::map<StepKey, StepHistory> steps;

    History lookup() const {
        return [this](const StepKey& key) {
            const auto found = steps.find(key);
            return found == steps.end() ? StepHistory() : found->second;
        };
    }
};

StepHistory succeeded() {
    StepHistory history;
    history.succeeded = true;
    history.attempts = 1;
    return history;
}

StepHistory failed(FailureClass failure, std::uint32_t times) {
    StepHistory history;
    history.attempts = times;
    history.failures[failure] = times;
    return history;
}

} // namespace

TEST_CASE("a first run takes every cell") {
    const Plan plan = null_plan(5);
    const RunSelection selection = select_run(plan, {}, Past().lookup());
    CHECK(selection.cells.size() == 5);
    REQUIRE(selection.steps.size() == 5);
    CHECK(selection.steps[0].generation == 1);
    CHECK(selection.steps[0].next_attempt == 1);
    CHECK(selection.invalidated.empty());
}

TEST_CASE("a resumed run knows what has succeeded and counts attempts on") {
    const Plan plan = null_plan(3);
    Past past;
    past.steps[plan.step_key(0)] = succeeded();
    past.steps[plan.step_key(1)] = failed(FailureClass::crash, 1);
    const RunSelection selection = select_run(plan, {}, past.lookup());
    CHECK(selection.steps[0].entry.succeeded);
    CHECK_FALSE(selection.steps[1].entry.succeeded);
    CHECK(selection.steps[1].next_attempt == 2);
    CHECK(selection.steps[1].entry.failures.at(FailureClass::crash) == 1);
}

TEST_CASE("--limit counts only cells without a verdict") {
    const Plan plan = null_plan(6);
    Past past;
    past.steps[plan.step_key(0)] = succeeded();
    past.steps[plan.step_key(1)] = failed(FailureClass::exit, 1);
    RunRequest request;
    request.limit = 2;
    const RunSelection selection = select_run(plan, request, past.lookup());
    CHECK(selection.cells.size() == 6);
    CHECK(selection.steps.size() == 4);
    request.retry_failed = true;
    CHECK(select_run(plan, request, past.lookup()).steps.size() == 3);
}

TEST_CASE("--retry-failed forgets failures") {
    const Plan plan = null_plan(1);
    Past past;
    past.steps[plan.step_key(0)] = failed(FailureClass::exit, 3);
    CHECK(select_run(plan, {}, past.lookup()).steps[0].entry.failures.at(FailureClass::exit) == 3);
    RunRequest request;
    request.retry_failed = true;
    const RunSelection selection = select_run(plan, request, past.lookup());
    CHECK(selection.steps[0].entry.failures.empty());
    CHECK(selection.steps[0].next_attempt == 4);
}

TEST_CASE("--rerun raises generations of what was tried, and of nothing else") {
    const Plan plan = null_plan(4);
    Past past;
    past.steps[plan.step_key(0)] = succeeded();
    past.steps[plan.step_key(1)] = succeeded();
    past.steps[plan.step_key(1)].generation = 3;
    RunRequest request;
    request.rerun = Expression::parse("i in [2, 3]");
    const RunSelection selection = select_run(plan, request, past.lookup());
    REQUIRE(selection.invalidated.size() == 1);
    CHECK(selection.invalidated[0].step == plan.step_key(1));
    CHECK(selection.invalidated[0].generation == 4);
    CHECK(selection.steps[0].entry.succeeded);
    CHECK_FALSE(selection.steps[1].entry.succeeded);
    CHECK(selection.steps[1].generation == 4);
}

TEST_CASE("--where narrows the run and must match something") {
    const Plan plan = null_plan(4);
    RunRequest request;
    request.where = Expression::parse("i >= 3");
    CHECK(select_run(plan, request, Past().lookup()).cells.size() == 2);
    request.where = Expression::parse("i > 100");
    CHECK_THROWS_AS(select_run(plan, request, Past().lookup()), UserError);
    request.where = Expression::parse("j = 1");
    CHECK_THROWS_AS(select_run(plan, request, Past().lookup()), UserError);
}
