#include <tessera/base/error.hpp>
#include <tessera/cli/run_options.hpp>
#include <tessera/cli/run_setup.hpp>
#include <tessera/controller/controller_host.hpp>
#include <tessera/controller/worker_host.hpp>
#include <tessera/local/launcher_step.hpp>
#include <tessera/mpi/mpi_transport.hpp>
#include <tessera/protocol/handshake.hpp>

#include <cstdlib>
#include <iostream>

namespace {

using namespace tessera;

/// Workers depend on the controller's word, so it waits less long.
constexpr double controller_close_s = 10;
constexpr double worker_close_s = 20;

/// Ends MPI once, in order if all ranks are there.
class MpiEnd {
public:
    explicit MpiEnd(MpiTransport& transport)
        : transport_(transport) {}

    void operator()() {
        if (done_) return;
        done_ = true;
        in_order_ =
            transport_.close(from_seconds(transport_.self() == 0 ? controller_close_s : worker_close_s));
        if (in_order_) transport_.finalize();
    }

    /// If not, the process must leave without the handlers that MPI has for its exit.
    bool in_order() const { return in_order_; }

private:
    MpiTransport& transport_;
    bool done_ = false;
    bool in_order_ = false;
};

/// A launcher that promised several ranks but started as many worlds of one (srun without the right PMI)
/// would run the campaign several times.
void check_world(std::uint32_t world_size) {
    const auto step = launcher_step(process_variables());
    if (step && step->size > 1 && world_size == 1)
        throw UserError(
            "the launcher started " + std::to_string(step->size) +
            " processes, but each of them is alone in MPI: start them with `srun --mpi=pmix` (or pmi2), "
            "or with the mpirun of the MPI that tessera was built with");
}

int run_rank(const RunOptions& options, MpiTransport& transport, SupervisorClient& supervisor,
             SignalWatcher& signals, MpiEnd& end_mpi) {
    const SystemClock clock;
    if (transport.self() != 0) {
        const auto place = campaign_place(options);
        const WorkerResult result = run_as_worker(place.dir, place.name, transport, supervisor, clock);
        if (result.end != WorkerEnd::stopped)
            std::cerr << "tessera: worker rank " << transport.self() << " ended: " << describe(result)
                      << '\n';
        return 0;
    }
    Transport* remote = transport.world_size() > 1 ? &transport : nullptr;
    const RunEnd end = run_campaign(options, remote, supervisor, signals, clock, [&] { end_mpi(); });
    // A `tessera run` that waits takes the code from the verdict; a code of our own would only make mpirun
    // complain.
    return options.for_parent.empty() ? end.code : 0;
}

int run(const RunOptions& options) {
    SignalWatcher signals(stop_signals());
    SupervisorClient supervisor(own_programs_folder() + "/tessera-supervisor");
    MpiTransport transport;
    MpiEnd end_mpi(transport);
    int code = 0;
    bool refused = false;
    try {
        check_world(transport.world_size());
        code = run_rank(options, transport, supervisor, signals, end_mpi);
    } catch (const RefusedError&) {
        // Rank 0 has the message.
    } catch (const std::exception& error) {
        std::cerr << "tessera: " << error.what() << '\n';
        code = run_failure_code(error);
        refused = true;
    }
    if (refused && !options.for_parent.empty() && transport.self() == 0) {
        std::cout << refusal_prefix << code << '\n';
        code = 0;
    }
    end_mpi();
    std::cout.flush();
    if (!end_mpi.in_order()) std::_Exit(code);
    return code;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const RunOptions options = parse_run_options({argv + 1, argv + argc});
        return options.help_shown ? 0 : run(options);
    } catch (const std::exception& error) {
        std::cerr << "tessera: " << error.what() << '\n';
        return run_failure_code(error);
    }
}
