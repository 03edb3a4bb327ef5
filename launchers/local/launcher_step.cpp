#include <tessera/local/launcher_step.hpp>

#include <charconv>
#include <cstdlib>

namespace tessera {

namespace {

std::optional<std::uint32_t> number(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    std::uint32_t value = 0;
    const char* end = text->data() + text->size();
    const auto result = std::from_chars(text->data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return value;
}

} // namespace

VariableLookup process_variables() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

std::optional<LauncherStep> launcher_step(const VariableLookup& environment) {
    LauncherStep step;
    if (environment("OMPI_COMM_WORLD_SIZE"))
        step.mpi = "openmpi";
    else if (environment("HYDRA_BSTRAP_LOCALHOST") || environment("HYDI_CONTROL_FD") ||
             environment("PALS_RANKID"))
        step.mpi = "mpich";

    if (const auto size = number(environment("OMPI_COMM_WORLD_SIZE"))) {
        step.size = *size;
        return step;
    }
    const auto slurm_tasks = number(environment("SLURM_STEP_NUM_TASKS"));
    const bool in_slurm_step = environment("SLURM_STEP_ID").has_value() && slurm_tasks.has_value();
    if (environment("PMIX_RANK") || environment("PMI_RANK")) {
        step.size = number(environment("PMI_SIZE")).value_or(in_slurm_step ? *slurm_tasks : 1);
        return step;
    }
    if (in_slurm_step && *slurm_tasks > 1) {
        step.size = *slurm_tasks;
        return step;
    }
    return std::nullopt;
}

} // namespace tessera
