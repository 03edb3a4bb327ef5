#include "kill_and_resume.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include <poll.h>

namespace tessera::test {

namespace {

constexpr int cells = 60;

/// The moment of a kill: when the cells have left so many more lines, and then some milliseconds later.
struct Moment {
    std::size_t lines = 0;
    int delay_ms = 0;
};

/// From before the ranks are there to after the last cell.
Moment random_moment(std::mt19937& random, const KillPlan& plan) {
    const int most = plan.cells_a_run ? 2 * *plan.cells_a_run : 3 * cells / plan.kills;
    std::uniform_int_distribution<int> lines(0, most);
    std::uniform_int_distribution<int> delay_ms(0, 60);
    return {static_cast<std::size_t>(lines(random)), delay_ms(random)};
}

void kill_run_at(const CampaignRun& campaign, const Moment& moment) {
    const std::size_t before = campaign.lines();
    RunningProgram program(campaign.command());
    REQUIRE(eventually([&] { return campaign.lines() >= before + moment.lines || program.has_ended(); }));
    ::poll(nullptr, 0, moment.delay_ms);
    std::vector<Process> victims = campaign.processes();
    std::erase_if(victims, [](const Process& process) {
        return process.role == Role::supervisor || process.role == Role::cell;
    });
    kill_at_once(victims);
    program.wait();
}

/// What was recorded as succeeded before has not begun again since.
void check_not_begun_again(const std::set<std::string>& recorded, const std::map<std::string, int>& before,
                           const std::map<std::string, int>& after) {
    for (const std::string& step : recorded) {
        CAPTURE(step);
        CHECK(after.at(step) == before.at(step));
    }
}

void run_to_the_end(const CampaignRun& campaign) {
    for (int run = 0; run < cells; ++run) {
        const Outcome outcome = campaign.run();
        if (outcome.exit_code == 3) continue;
        require_code(outcome, 0);
        return;
    }
    FAIL("the runs left work each time");
}

} // namespace

void kill_and_resume(KillPlan plan) {
    CAPTURE(plan.seed);
    if (plan.cells_a_run) {
        plan.run_options.emplace_back("--limit");
        plan.run_options.push_back(std::to_string(*plan.cells_a_run));
    }
    const CampaignRun campaign(cells, "sleep 0.04", plan.run_options);
    std::mt19937 random(plan.seed);
    std::set<std::string> recorded;
    std::map<std::string, int> begun;
    for (int kill = 1; kill <= plan.kills; ++kill) {
        CAPTURE(kill);
        kill_run_at(campaign, random_moment(random, plan));
        campaign.require_nothing_left();
        campaign.accepted_by_h5py();
        check_not_begun_again(recorded, begun, campaign.begun());
        const std::set<std::string> now = campaign.recorded_successes();
        CHECK(std::includes(now.begin(), now.end(), recorded.begin(), recorded.end()));
        recorded = now;
        begun = campaign.begun();
    }
    run_to_the_end(campaign);
    campaign.require_nothing_left();
    check_not_begun_again(recorded, begun, campaign.begun());
    CHECK(campaign.begun().size() == cells);
    CHECK(campaign.finished().size() == cells);
    campaign.check_each_succeeded_once();
    CHECK(campaign.accepted_by_h5py() == cells);

    const std::size_t lines = campaign.lines();
    require_code(campaign.run(), 0);
    CHECK(campaign.lines() == lines);
}

} // namespace tessera::test
