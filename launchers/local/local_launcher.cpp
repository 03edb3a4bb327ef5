#include <tessera/local/command_output.hpp>
#include <tessera/local/local_launcher.hpp>

#include <algorithm>
#include <charconv>

namespace tessera {

namespace {

/// The first number after `marker`, or 0.
std::uint32_t number_after(const std::string& text, const std::string& marker) {
    const std::size_t found = text.find(marker);
    if (found == std::string::npos) return 0;
    const std::size_t start = text.find_first_of("0123456789", found + marker.size());
    if (start == std::string::npos) return 0;
    std::uint32_t value = 0;
    std::from_chars(text.data() + start, text.data() + text.size(), value);
    return value;
}

void append(std::vector<std::string>& argv, std::initializer_list<const char*> words) {
    argv.insert(argv.end(), words.begin(), words.end());
}

} // namespace

std::optional<MpiLauncher> parse_version(const std::string& command, const std::string& text) {
    if (text.find("Open MPI") != std::string::npos || text.find("OpenRTE") != std::string::npos)
        return MpiLauncher{
            "openmpi", command,
            number_after(text, text.find("Open MPI") != std::string::npos ? "Open MPI" : "OpenRTE")};
    if (text.find("HYDRA") != std::string::npos)
        return MpiLauncher{"mpich", command, number_after(text, "Version:")};
    return std::nullopt;
}

std::optional<MpiLauncher> find_mpi_launcher(const std::vector<std::string>& built) {
    for (const std::string& mpi : built) {
        for (const std::string& command : {"mpirun." + mpi, std::string("mpirun"), std::string("mpiexec")}) {
            const auto text = command_output({command, "--version"});
            if (!text) continue;
            auto launcher = parse_version(command, *text);
            if (launcher && launcher->mpi == mpi) return launcher;
        }
    }
    return std::nullopt;
}

LaunchCommand local_launch(const MpiLauncher& launcher, std::uint32_t ranks,
                           const std::vector<std::string>& program, bool as_root, bool in_slurm_job) {
    LaunchCommand launch;
    launch.argv = {launcher.command, "-n", std::to_string(ranks)};
    if (launcher.mpi == "openmpi") {
        if (launcher.major >= 5)
            append(launch.argv, {"--map-by", ":OVERSUBSCRIBE"});
        else
            append(launch.argv, {"--oversubscribe"});
        append(launch.argv, {"--bind-to", "none"});
        // On one machine shared memory is all that is needed; probing the network costs a part of the
        // start-up.
        if (!in_slurm_job) {
            append(launch.argv, {"--mca", "pml", "ob1", "--mca", "btl"});
            launch.argv.emplace_back(launcher.major >= 5 ? "self,sm" : "self,vader");
        }
        if (as_root) {
            launch.env.push_back({"OMPI_ALLOW_RUN_AS_ROOT", "1"});
            launch.env.push_back({"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"});
            launch.env.push_back({"PRTE_ALLOW_RUN_AS_ROOT", "1"});
            launch.env.push_back({"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"});
        }
    } else if (!in_slurm_job) {
        append(launch.argv, {"-launcher", "fork"});
    }
    launch.argv.insert(launch.argv.end(), program.begin(), program.end());
    return launch;
}

} // namespace tessera
