#include "campaign_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

using namespace tessera::test;

namespace {

constexpr int cells = 12;

/// Cells that were not told to go yet wait; the first ones of each run are there to be killed.
constexpr const char* waiting_script =
    R"sh(while test ! -e "$TESSERA_CAMPAIGN_FOLDER/go"; do sleep 0.02; done)sh";

Process rank(const CampaignRun& campaign, int number) {
    for (const Process& process : campaign.processes(Role::rank))
        if (process.rank == number) return process;
    FAIL("there is no rank " << number);
    return {};
}

struct Running {
    CampaignRun campaign{cells, waiting_script, {"--workers", "2"}};
    RunningProgram program{campaign.command()};

    Running() {
        REQUIRE(eventually([this] { return campaign.begun().size() >= 2; }));
        // Else a search for what is left would find nothing whatever happens.
        for (const Role role : {Role::command, Role::launcher, Role::rank, Role::supervisor, Role::cell})
            REQUIRE(!campaign.processes(role).empty());
    }

    void check_status_tells_of_it() const {
        const Outcome status = run_tessera(campaign.folder().path(), {"status", "D"});
        require_code(status, 0);
        CAPTURE(status.out);
        CHECK(status.out.find("interrupted without an end") != std::string::npos);
        for (const nlohmann::json& row : query(campaign.folder().path(), "D"))
            CHECK((row["status"] == "pending" || row["status"] == "succeeded"));
    }

    /// After a rank was killed: the run ends or goes on, and with the next one at the latest all is done.
    void finish() {
        campaign.folder().write("go", "");
        const Outcome first = program.wait();
        CAPTURE(first.out);
        CAPTURE(first.err);
        CHECK((first.exit_code == 0 || first.exit_code == 3));
        campaign.require_nothing_left();
        if (first.exit_code == 3) check_status_tells_of_it();
        require_code(campaign.run(), 0);
        campaign.check_each_succeeded_once();
        CHECK(campaign.accepted_by_h5py() == cells);
        campaign.require_nothing_left();
    }
};

} // namespace

TEST_CASE_FIXTURE(Running, "only a worker is killed") {
    kill_at_once({rank(campaign, 1)});
    finish();
}

TEST_CASE_FIXTURE(Running, "only the controller is killed") {
    kill_at_once({rank(campaign, 0)});
    finish();
}

TEST_CASE_FIXTURE(Running, "only the launcher is killed") {
    kill_at_once(campaign.processes(Role::launcher));
    finish();
}

TEST_CASE_FIXTURE(Running, "only the command that started the ranks is killed") {
    kill_at_once(campaign.processes(Role::command));
    campaign.folder().write("go", "");
    program.wait();
    // The ranks may finish on their own or stop.
    campaign.require_nothing_left();
    require_code(campaign.run(), 0);
    campaign.check_each_succeeded_once();
}

TEST_CASE_FIXTURE(Running, "only a worker's supervisor is killed: its cells are lost and run again") {
    const pid_t worker = rank(campaign, 1).pid;
    std::vector<Process> supervisors = campaign.processes(Role::supervisor);
    std::erase_if(supervisors, [worker](const Process& process) { return process.parent != worker; });
    REQUIRE(supervisors.size() == 1);
    const auto before = campaign.begun();
    kill_at_once(supervisors);
    REQUIRE(eventually([&] { return campaign.lines() > before.size(); }));
    campaign.folder().write("go", "");
    require_code(program.wait(), 0);
    campaign.check_each_succeeded_once();
    campaign.require_nothing_left();
}

TEST_CASE("a cell that every run takes down with itself is never given up") {
    const CampaignRun campaign(1, waiting_script, {"--workers", "0"});
    constexpr std::size_t more_than_lost_retries = 7;
    for (std::size_t kill = 1; kill <= more_than_lost_retries; ++kill) {
        CAPTURE(kill);
        RunningProgram program(campaign.command());
        REQUIRE(eventually([&] { return campaign.lines() == kill || program.has_ended(); }));
        REQUIRE(campaign.lines() == kill);
        kill_at_once(campaign.processes(Role::command));
        program.wait();
        campaign.require_nothing_left();
    }
    campaign.folder().write("go", "");
    require_code(campaign.run(), 0);
    campaign.check_each_succeeded_once();
}
