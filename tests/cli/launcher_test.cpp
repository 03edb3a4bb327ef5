#include "program.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <set>

#include <unistd.h>

using namespace tessera::test;
using nlohmann::json;

namespace {

constexpr const char* recording_script = R"sh(echo "$1" >> "$TESSERA_CAMPAIGN_FOLDER/ran")sh";

std::string mpirun(const std::string& mpi) {
    return mpi == "openmpi" ? MPIRUN_OPENMPI : MPIRUN_MPICH;
}

bool is_built(const std::string& mpi) {
    return std::filesystem::exists(TESSERA_BIN_DIR "/tessera-rank-" + mpi) &&
           std::filesystem::exists(mpirun(mpi));
}

/// `tessera run` in a step of the launcher itself.
Command in_step(const TemporaryFolder& folder, const std::string& mpi, int ranks,
                std::vector<std::string> more = {}) {
    Command command{{mpirun(mpi), "-n", std::to_string(ranks)}, folder.path(), {}};
    if (mpi == "openmpi") command.argv.insert(command.argv.end(), {"--oversubscribe", "--bind-to", "none"});
    command.argv.insert(command.argv.end(), {TESSERA_BIN_DIR "/tessera", "run", "c.toml", "--dir", "D"});
    command.argv.insert(command.argv.end(), more.begin(), more.end());
    return command;
}

void run_in_steps(const std::string& mpi) {
    if (!is_built(mpi)) {
        MESSAGE(mpi << " is not here");
        return;
    }
    for (const int ranks : {1, 2, 3}) {
        CAPTURE(ranks);
        const TemporaryFolder folder;
        folder.write("c.toml", shell_campaign("c", "[1, 2, 3, 4, 5, 6]", recording_script));
        const Outcome outcome = run(in_step(folder, mpi, ranks));
        require_code(outcome, 0);
        const auto ran = folder.lines("ran");
        CHECK(std::set<std::string>(ran.begin(), ran.end()).size() == 6);
        CHECK(ran.size() == 6);
        CHECK(outcome.out.find("all 6 cells have succeeded") != std::string::npos);
        CHECK(outcome.out.find("all 6 cells") == outcome.out.rfind("all 6 cells"));

        // A run without a launcher goes on with what the ranks left, and the other way round.
        require_code(run_tessera(folder.path(), {"run", "c.toml", "--dir", "D", "--workers", "0"}), 0);
        CHECK(folder.lines("ran").size() == 6);
    }
}

} // namespace

TEST_CASE("inside mpirun of OpenMPI each process becomes a rank") {
    run_in_steps("openmpi");
}

TEST_CASE("inside mpirun of MPICH each process becomes a rank") {
    run_in_steps("mpich");
}

TEST_CASE("exit codes pass through the launcher") {
    for (const std::string mpi : {"openmpi", "mpich"}) {
        CAPTURE(mpi);
        if (!is_built(mpi)) continue;
        const TemporaryFolder folder;
        folder.write("c.toml",
                     shell_campaign("c", "[1, 2, 3]", std::string(recording_script) + "; test $1 != 2"));
        require_code(run(in_step(folder, mpi, 2, {"--where", "x = 3"})), 0);
        require_code(run(in_step(folder, mpi, 2)), 1);
        CHECK(folder.lines("ran").size() == 3);
        const Outcome refused = run(in_step(folder, mpi, 2, {"--where", "x = 9"}));
        require_code(refused, 2);
        CHECK(refused.err.find("--where selects no cell") == refused.err.rfind("--where selects no cell"));
    }
}

TEST_CASE("the controller of its own node works too unless told otherwise") {
    if (!is_built("openmpi")) return;
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2]", recording_script));
    require_code(run(in_step(folder, "openmpi", 2, {"--controller-only"})), 0);
    CHECK(folder.lines("ran").size() == 2);
}
