#include <tessera/base/error.hpp>
#include <tessera/cli/run_options.hpp>
#include <tessera/cli/run_setup.hpp>
#include <tessera/controller/controller_host.hpp>
#include <tessera/controller/worker_host.hpp>
#include <tessera/local/launcher_step.hpp>
#include <tessera/mpi/mpi_transport.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace {

using namespace tessera;

constexpr double controller_close_s = 10;
constexpr double worker_close_s = 20;

/// A launcher that promised several ranks but started as many worlds of one (srun without the right PMI)
/// would run the campaign several times.
void check_world(std::uint32_t world_size) {
    const auto step = launcher_step(process_variables());
    if (step && step->size > 1 && world_size == 1)
        throw UserError("the launcher started " + std::to_string(step->size) +
                        " processes, but each of them is alone in MPI: start them with `srun --mpi=pmix` (or "
                        "pmi2), or with "
                        "the mpirun of the MPI that tessera was built with");
}

int run_rank(const RunOptions& options, MpiTransport& transport, SupervisorClient& supervisor,
             SignalWatcher& signals) {
    const SystemClock clock;
    if (transport.self() != 0) {
        const auto place = campaign_place(options);
        const WorkerResult result = run_as_worker(place.dir, place.name, transport, supervisor, clock);
        if (result.end == WorkerEnd::stopped) return 0;
        std::cerr << "tessera: worker rank " << transport.self() << " ended: " << result.detail << '\n';
        return 0;
    }
    Transport* remote = transport.world_size() > 1 ? &transport : nullptr;
    const RunEnd end = run_campaign(options, remote, supervisor, signals, clock);
    // A `tessera run` that waits takes the code from the verdict; a code of our own would only make mpirun
    // complain.
    return options.for_parent ? 0 : end.code;
}

int run(const RunOptions& options) {
    SignalWatcher signals({SIGINT, SIGTERM, SIGUSR1});
    SupervisorClient supervisor(own_programs_folder() + "/tessera-supervisor");
    MpiTransport transport;
    int code = 0;
    try {
        check_world(transport.world_size());
        code = run_rank(options, transport, supervisor, signals);
    } catch (const UserError& error) {
        std::cerr << "tessera: " << error.what() << '\n';
        code = 2;
    } catch (const std::exception& error) {
        std::cerr << "tessera: " << error.what() << '\n';
        code = 1;
    }
    std::cout.flush();
    const double patience_s = transport.self() == 0 ? controller_close_s : worker_close_s;
    if (!transport.close(from_seconds(patience_s))) std::_Exit(code);
    transport.finalize();
    return code;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(parse_run_options({argv + 1, argv + argc}));
    } catch (const UserError& error) {
        std::cerr << "tessera: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "tessera: " << error.what() << '\n';
        return 1;
    }
}
