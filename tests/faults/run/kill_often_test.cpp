#include "kill_and_resume.hpp"

#include <doctest/doctest.h>

using namespace tessera::test;

TEST_CASE("twenty kills of all ranks at random moments cost no result") {
    for (const std::uint32_t seed : {11U, 12U, 13U})
        kill_and_resume({{"--workers", "2"}, 20, seed});
}

TEST_CASE("with ranks of MPICH too") {
    if (!std::filesystem::exists(TESSERA_BIN_DIR "/tessera-rank-mpich")) return;
    kill_and_resume({{"--workers", "2", "--mpi", "mpich"}, 20, 21});
}

TEST_CASE("kills of runs that store what they have") {
    for (const std::uint32_t seed : {31U, 32U, 33U})
        kill_and_resume({{"--workers", "0"}, 20, seed, 3});
    kill_and_resume({{"--workers", "2"}, 20, 34, 3});
}

TEST_CASE("cells that ignore SIGTERM and leave their session outlive their ranks by the grace time only") {
    const CampaignRun campaign(2, R"sh(trap '' TERM
setsid sh -c 'trap "" TERM; exec sleep 1000' &
exec sleep 1000)sh",
                               {"--workers", "2"});
    RunningProgram program(campaign.command());
    REQUIRE(eventually([&] { return campaign.processes(Role::cell).size() >= 4; }));
    std::vector<Process> victims = campaign.processes();
    std::erase_if(victims, [](const Process& process) {
        return process.role == Role::supervisor || process.role == Role::cell;
    });
    kill_at_once(victims);
    program.wait();
    campaign.require_nothing_left();
}
