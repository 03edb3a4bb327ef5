#include <tessera/base/text.hpp>
#include <tessera/worker/environment.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <unistd.h>

extern char** environ;

namespace tessera {

namespace {

constexpr const char* default_path = "/usr/local/bin:/usr/bin:/bin";

using Variables = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::string_view, 14> rank_prefixes = {
    "OMPI_",  "PMIX_", "PMI_",      "PMI2_", "OPAL_",       "ORTE_",       "PRTE_",
    "HYDRA_", "HYDI_", "MPI_LOCAL", "PALS_", "SLURM_STEP_", "SLURM_SRUN_", "SLURM_CPU_BIND",
};

constexpr std::array<std::string_view, 19> rank_names = {
    "SLURM_STEPID",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_TASK_PID",
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_GTIDS",
    "SLURM_TASKS_PER_NODE",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_DISTRIBUTION",
    "SLURM_MPI_TYPE",
    "SLURM_LAUNCH_NODE_IPADDR",
    "SLURM_UMASK",
    "SLURM_PRIO_PROCESS",
    "SLURM_PMI_FD",
    "SLURM_PMIXP_ABORT_AGENT_PORT",
    "SLURM_PMIX_MAPPING_SERV",
};

/// Of the step, but about devices: it stays.
constexpr std::string_view step_devices = "SLURM_STEP_GPUS";

constexpr std::array<std::string_view, 6> thread_variables = {
    "OMP_NUM_THREADS",  "MKL_NUM_THREADS",     "OPENBLAS_NUM_THREADS",
    "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
};

/// Those that Tessera sets: a cell must not see them of a cell that it itself runs in.
constexpr std::array<std::string_view, 12> own_variables = {
    "TESSERA_CELL",     "TESSERA_STEP",   "TESSERA_STEP_KEY",        "TESSERA_ATTEMPT",
    "TESSERA_SEED",     "TESSERA_REPEAT", "TESSERA_DEVICES",         "TESSERA_METRICS",
    "TESSERA_ARTIFACT", "TESSERA_AXES",   "TESSERA_CAMPAIGN_FOLDER", "TESSERA_CORES",
};

std::pair<std::string, std::string> name_and_value(std::string_view entry) {
    const std::size_t end = entry.find('=');
    if (end == std::string_view::npos) return {std::string(entry), ""};
    return {std::string(entry.substr(0, end)), std::string(entry.substr(end + 1))};
}

Variables inherited(const Environment& base) {
    Variables variables;
    for (const std::string& entry : base) {
        auto [name, value] = name_and_value(entry);
        if (name.empty() || is_rank_variable(name)) continue;
        if (std::find(own_variables.begin(), own_variables.end(), name) != own_variables.end()) continue;
        variables.insert_or_assign(std::move(name), std::move(value));
    }
    return variables;
}

void set_attempt(Variables& variables, const StepSpec& spec, const CellContext& context,
                 const Placement& placement) {
    const auto file = [&](std::string_view name) { return fmt::format("{}/{}", context.folder, name); };
    if (!spec.cell.empty()) variables["TESSERA_CELL"] = spec.cell;
    variables["TESSERA_STEP"] = spec.name;
    variables["TESSERA_STEP_KEY"] = context.attempt.step.hex();
    variables["TESSERA_ATTEMPT"] = context.attempt.text();
    if (spec.seed) variables["TESSERA_SEED"] = std::to_string(*spec.seed);
    if (spec.repeat) variables["TESSERA_REPEAT"] = std::to_string(*spec.repeat);
    variables["TESSERA_CORES"] = std::to_string(spec.resources.cores);
    variables["TESSERA_DEVICES"] = fmt::format("{}", fmt::join(placement.devices, ","));
    variables["TESSERA_METRICS"] = file(attempt_file::metrics);
    variables["TESSERA_ARTIFACT"] = file(attempt_file::artifact);
    variables["TESSERA_AXES"] = file(attempt_file::axes);
    variables["TESSERA_CAMPAIGN_FOLDER"] = spec.campaign_folder;
    variables["PWD"] = context.folder;
}

/// Unless the folder is in PATH already: then its place among the user's own folders (of a virtual
/// environment, say) is the user's choice.
void put_programs_first(std::string& path, const std::string& folder) {
    if (folder.empty()) return;
    const std::vector<std::string> folders = split(path, ':');
    if (std::find(folders.begin(), folders.end(), folder) != folders.end()) return;
    path = path.empty() ? folder : folder + ":" + path;
}

} // namespace

Environment own_environment() {
    Environment result;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        result.emplace_back(*entry);
    return result;
}

bool is_rank_variable(std::string_view name) {
    if (name == step_devices) return false;
    const auto is_prefix = [name](std::string_view prefix) {
        return name.substr(0, prefix.size()) == prefix;
    };
    return std::any_of(rank_prefixes.begin(), rank_prefixes.end(), is_prefix) ||
           std::find(rank_names.begin(), rank_names.end(), name) != rank_names.end();
}

std::string_view find_variable(const Environment& environment, std::string_view name) {
    for (const std::string& entry : environment) {
        const std::string_view view = entry;
        if (view.size() > name.size() && view[name.size()] == '=' && view.substr(0, name.size()) == name)
            return view.substr(name.size() + 1);
    }
    return {};
}

Environment cell_environment(const Environment& base, const StepSpec& spec, const CellContext& context,
                             const Placement& placement) {
    Variables variables = inherited(base);
    for (const std::string_view name : thread_variables)
        variables[std::string(name)] = std::to_string(std::max(1U, spec.resources.cores));
    // Also when it is empty: a step without devices must not use those of its neighbours.
    if (!context.visibility_variable.empty())
        variables[context.visibility_variable] = fmt::format("{}", fmt::join(placement.devices, ","));
    for (const EnvEntry& entry : spec.env)
        variables[entry.name] = entry.value;
    set_attempt(variables, spec, context, placement);
    variables.try_emplace("PATH", default_path);
    put_programs_first(variables["PATH"], context.programs_folder);

    Environment result;
    result.reserve(variables.size());
    for (const auto& [name, value] : variables)
        result.push_back(name + "=" + value);
    return result;
}

} // namespace tessera
