#pragma once

#include <tessera/campaign/step_spec.hpp>
#include <tessera/local/launcher_step.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// An MPI that can start ranks on this machine.
struct MpiLauncher {
    std::string mpi;         ///< "openmpi" or "mpich"
    std::string command;     ///< mpirun's name or path
    std::uint32_t major = 0; ///< version of the MPI
};

/// What `command --version` says, as a launcher; empty for text of neither OpenMPI nor MPICH.
std::optional<MpiLauncher> parse_version(const std::string& command, const std::string& text);

/// The first launcher in PATH whose MPI is one of `built`, in that order.
std::optional<MpiLauncher> find_mpi_launcher(const std::vector<std::string>& built);

/// Command line and additional environment that start `program` as `ranks` ranks on this machine, more than
/// cores if need be, unbound (workers bind their cells themselves), also as root.
struct LaunchCommand {
    std::vector<std::string> argv;
    std::vector<EnvEntry> env;
};

LaunchCommand local_launch(const MpiLauncher& launcher, std::uint32_t ranks,
                           const std::vector<std::string>& program, bool as_root, bool in_slurm_job);

} // namespace tessera
