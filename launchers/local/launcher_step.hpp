#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tessera {

/// Reads one environment variable.
using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;

/// The environment of this process.
VariableLookup process_variables();

/// A launcher's step that this process is a rank of.
struct LauncherStep {
    std::string mpi;        ///< "openmpi" or "mpich" if the environment tells, else empty
    std::uint32_t size = 1; ///< number of ranks by the launcher's word
};

/// Tells whether this process was started as a rank by mpirun or srun. A batch script or a login shell is
/// none, whatever SLURM_PROCID and SLURM_NTASKS say, and neither is a Slurm step of one task without a PMI,
/// which is how shells run.
std::optional<LauncherStep> launcher_step(const VariableLookup& environment);

} // namespace tessera
