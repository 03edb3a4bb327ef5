#include <tessera/local/command_output.hpp>
#include <tessera/local/launcher_step.hpp>
#include <tessera/local/local_launcher.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace tessera;

namespace {

std::optional<LauncherStep> step_in(const std::map<std::string, std::string>& variables) {
    return launcher_step([&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace

TEST_CASE("a process is a rank only inside a launcher's step") {
    struct Row {
        const char* what;
        std::map<std::string, std::string> variables;
        bool rank;
        std::uint32_t size;
        const char* mpi;
    };

    const Row rows[] = {
        {"login shell", {}, false, 0, ""},
        {"batch script", {{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, false, 0, ""},
        {"srun --pty bash",
         {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}},
         false,
         0,
         ""},
        {"mpirun of OpenMPI", {{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}}, true, 4, "openmpi"},
        {"mpirun of one rank", {{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}}, true, 1, "openmpi"},
        {"mpirun of MPICH",
         {{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"HYDI_CONTROL_FD", "7"}},
         true,
         3,
         "mpich"},
        {"PALS", {{"PALS_RANKID", "1"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, true, 2, "mpich"},
        {"srun --mpi=pmix",
         {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"PMIX_RANK", "0"}},
         true,
         4,
         ""},
        {"srun without PMI", {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}}, true, 4, ""},
        {"srun --mpi=pmix -n1",
         {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"PMIX_RANK", "0"}},
         true,
         1,
         ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const auto step = step_in(row.variables);
        REQUIRE(step.has_value() == row.rank);
        if (!step) continue;
        CHECK(step->size == row.size);
        CHECK(step->mpi == row.mpi);
    }
}

TEST_CASE("versions of both MPIs are understood") {
    const auto openmpi4 =
        parse_version("mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to ...\n");
    REQUIRE(openmpi4.has_value());
    CHECK(openmpi4->mpi == "openmpi");
    CHECK(openmpi4->major == 4);
    const auto openmpi5 = parse_version("mpirun", "mpirun (Open MPI) 5.0.8\n");
    REQUIRE(openmpi5.has_value());
    CHECK(openmpi5->major == 5);
    const auto mpich = parse_version("mpiexec", "HYDRA build details:\n    Version:      4.0.2\n");
    REQUIRE(mpich.has_value());
    CHECK(mpich->mpi == "mpich");
    CHECK(mpich->major == 4);
    CHECK_FALSE(parse_version("mpirun", "something else 3.1").has_value());
}

TEST_CASE("the local launch oversubscribes, does not bind and runs as root only if told") {
    const std::vector<std::string> program = {"/opt/bin/rank", "run", "a b.toml"};
    const LaunchCommand root4 = local_launch({"openmpi", "mpirun", 4}, 3, program, true, false);
    CHECK(contains(root4.argv, "--oversubscribe"));
    CHECK(contains(root4.argv, "self,vader"));
    CHECK(root4.argv.back() == "a b.toml");
    CHECK(root4.env.size() == 4);
    const LaunchCommand user5 = local_launch({"openmpi", "mpirun", 5}, 3, program, false, true);
    CHECK(contains(user5.argv, ":OVERSUBSCRIBE"));
    CHECK_FALSE(contains(user5.argv, "--oversubscribe"));
    CHECK_FALSE(contains(user5.argv, "--mca"));
    CHECK(user5.env.empty());
    const LaunchCommand mpich = local_launch({"mpich", "mpirun.mpich", 4}, 3, program, true, false);
    CHECK(mpich.argv.front() == "mpirun.mpich");
    CHECK(mpich.env.empty());
}

TEST_CASE("a command's output comes back, and its failure as nothing") {
    CHECK(command_output({"printf", "%s|", "a b", ""}) == "a b||");
    CHECK_FALSE(command_output({"false"}).has_value());
    CHECK_FALSE(command_output({"/nonexistent/program"}).has_value());
}
