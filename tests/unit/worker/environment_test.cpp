#include <tessera/worker/environment.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace tessera;

namespace {

StepSpec step() {
    StepSpec spec;
    spec.name = "workload";
    spec.resources.cores = 3;
    spec.cell = "c0ffee";
    spec.repeat = 2;
    spec.seed = 42;
    spec.campaign_folder = "/home/me/campaign";
    return spec;
}

CellContext context() {
    CellContext result;
    result.attempt = {"part", StepKey{}, 3};
    result.folder = "/campaign/attempts/part/x-3";
    result.programs_folder = "/opt/tessera/bin";
    return result;
}

bool has(const Environment& environment, std::string_view name) {
    return std::any_of(environment.begin(), environment.end(), [&](const std::string& entry) {
        return entry.size() > name.size() && entry.compare(0, name.size(), name) == 0 &&
               entry[name.size()] == '=';
    });
}

} // namespace

TEST_CASE("variables of the rank do not reach a cell") {
    for (const char* name : {"OMPI_COMM_WORLD_RANK",
                             "OMPI_MCA_btl",
                             "PMIX_RANK",
                             "PMI_RANK",
                             "PMI2_X",
                             "OPAL_PREFIX",
                             "ORTE_X",
                             "PRTE_X",
                             "HYDRA_X",
                             "MPI_LOCALNRANKS",
                             "PALS_RANKID",
                             "SLURM_STEP_ID",
                             "SLURM_STEPID",
                             "SLURM_STEP_NODELIST",
                             "SLURM_PROCID",
                             "SLURM_LOCALID",
                             "SLURM_NODEID",
                             "SLURM_NTASKS",
                             "SLURM_NPROCS",
                             "SLURM_TASKS_PER_NODE",
                             "SLURM_CPUS_PER_TASK",
                             "SLURM_CPU_BIND",
                             "SLURM_CPU_BIND_LIST",
                             "SLURM_SRUN_COMM_PORT",
                             "SLURM_GTIDS",
                             "SLURM_TASK_PID"}) {
        CAPTURE(name);
        CHECK(is_rank_variable(name));
        CHECK_FALSE(has(cell_environment({std::string(name) + "=1"}, step(), context(), {}), name));
    }
}

TEST_CASE("variables of the job and of devices do") {
    for (const char* name :
         {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NODELIST", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS",
          "SLURMD_NODENAME", "SLINGSHOT_VNIS", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HABANA_LOGS",
          "HOME", "LD_LIBRARY_PATH", "MPICH_GPU_SUPPORT_ENABLED"}) {
        CAPTURE(name);
        CHECK_FALSE(is_rank_variable(name));
        CHECK(find_variable(cell_environment({std::string(name) + "=a=b"}, step(), context(), {}), name) ==
              "a=b");
    }
}

TEST_CASE("what a cell is told") {
    const Environment environment = cell_environment({}, step(), context(), {{0, 1}, {"GPU-a", "GPU-b"}});
    CHECK(find_variable(environment, "TESSERA_CELL") == "c0ffee");
    CHECK(find_variable(environment, "TESSERA_STEP") == "workload");
    CHECK(find_variable(environment, "TESSERA_STEP_KEY") == std::string(32, '0'));
    CHECK(find_variable(environment, "TESSERA_ATTEMPT") == context().attempt.text());
    CHECK(find_variable(environment, "TESSERA_SEED") == "42");
    CHECK(find_variable(environment, "TESSERA_REPEAT") == "2");
    CHECK(find_variable(environment, "TESSERA_CORES") == "3");
    CHECK(find_variable(environment, "TESSERA_DEVICES") == "GPU-a,GPU-b");
    CHECK(find_variable(environment, "TESSERA_METRICS") ==
          "/campaign/attempts/part/x-3/tessera.metrics.jsonl");
    CHECK(find_variable(environment, "TESSERA_AXES") == "/campaign/attempts/part/x-3/tessera.axes.json");
    CHECK(find_variable(environment, "TESSERA_ARTIFACT") == "/campaign/attempts/part/x-3/tessera.artifact");
    CHECK(find_variable(environment, "TESSERA_CAMPAIGN_FOLDER") == "/home/me/campaign");
    CHECK(find_variable(environment, "PWD") == "/campaign/attempts/part/x-3");
}

TEST_CASE("a shared step is told no cell, repeat or seed, not even of the cell around it") {
    StepSpec spec = step();
    spec.cell.clear();
    spec.repeat.reset();
    spec.seed.reset();
    const Environment base = {"TESSERA_CELL=x", "TESSERA_SEED=1", "TESSERA_REPEAT=0", "TESSERA_HOME=/kept"};
    const Environment environment = cell_environment(base, spec, context(), {});
    CHECK_FALSE(has(environment, "TESSERA_CELL"));
    CHECK_FALSE(has(environment, "TESSERA_SEED"));
    CHECK_FALSE(has(environment, "TESSERA_REPEAT"));
    CHECK(has(environment, "TESSERA_HOME"));
}

TEST_CASE("threads follow the step's cores unless the campaign says otherwise") {
    StepSpec spec = step();
    spec.env = {{"MKL_NUM_THREADS", "7"}};
    const Environment environment = cell_environment({"OMP_NUM_THREADS=64"}, spec, context(), {});
    CHECK(find_variable(environment, "OMP_NUM_THREADS") == "3");
    CHECK(find_variable(environment, "OPENBLAS_NUM_THREADS") == "3");
    CHECK(find_variable(environment, "MKL_NUM_THREADS") == "7");
}

TEST_CASE("devices are shown by the visibility variable") {
    CellContext with = context();
    with.visibility_variable = "CUDA_VISIBLE_DEVICES";
    const Environment base = {"CUDA_VISIBLE_DEVICES=0,1,2,3"};
    CHECK(find_variable(cell_environment(base, step(), with, {{}, {"2"}}), "CUDA_VISIBLE_DEVICES") == "2");
    // A step without devices must not use a neighbour's.
    const Environment none = cell_environment(base, step(), with, {});
    CHECK(std::find(none.begin(), none.end(), "CUDA_VISIBLE_DEVICES=") != none.end());
}

TEST_CASE("the campaign's variables win, but cannot rename the attempt") {
    StepSpec spec = step();
    spec.env = {{"HOME", "/elsewhere"}, {"EMPTY", ""}, {"TESSERA_ATTEMPT", "mine"}};
    const Environment environment = cell_environment({"HOME=/root"}, spec, context(), {});
    CHECK(find_variable(environment, "HOME") == "/elsewhere");
    CHECK(std::find(environment.begin(), environment.end(), "EMPTY=") != environment.end());
    CHECK(find_variable(environment, "TESSERA_ATTEMPT") == context().attempt.text());
}

TEST_CASE("Tessera's programs come first in PATH") {
    const auto path = [](const Environment& base, StepSpec spec) {
        return std::string(find_variable(cell_environment(base, spec, context(), {}), "PATH"));
    };
    CHECK(path({"PATH=/usr/bin"}, step()) == "/opt/tessera/bin:/usr/bin");
    CHECK(path({}, step()) == "/opt/tessera/bin:/usr/local/bin:/usr/bin:/bin");
    // Where the user put the folder, it stays: it may hold other programs too.
    CHECK(path({"PATH=/venv/bin:/opt/tessera/bin"}, step()) == "/venv/bin:/opt/tessera/bin");
    StepSpec spec = step();
    spec.env = {{"PATH", "/own"}};
    CHECK(path({"PATH=/usr/bin"}, spec) == "/opt/tessera/bin:/own");
}

TEST_CASE("find_variable does not take a longer name") {
    CHECK(find_variable({"ABC=1", "AB=2"}, "AB") == "2");
    CHECK(find_variable({"ABC=1"}, "AB").empty());
}
