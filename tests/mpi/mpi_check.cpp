// Ranks that exercise the transport, the handshake and the worker loop under a real launcher:
//   mpi-check-MPI messages          every worker echoes messages of many sizes, then all run 2,000 items
//   mpi-check-MPI mismatch          the last rank is of another build: all are refused
//   mpi-check-MPI loss              the last rank kills itself: the others finish its items and end
//   mpi-check-MPI throughput ITEMS  items that run nothing; prints items per second
//   mpi-check-MPI idle SECONDS      nothing but heartbeats
// Rank 0 prints "OK" at the end if all was as it should be.

#include "scripted_controller.hpp"

#include <tessera/mpi/mpi_transport.hpp>
#include <tessera/protocol/composite_transport.hpp>
#include <tessera/worker/null_executor.hpp>
#include <tessera/worker/worker_loop.hpp>

#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace tessera;
using test::ScriptedController;

namespace {

constexpr Duration handshake_limit = std::chrono::seconds(30);
constexpr std::size_t window = 1000;
constexpr std::uint64_t items = 2000;

/// Small, so that messages of some megabytes travel in pieces.
constexpr std::size_t piece_bytes = 100'000;

class CountingSink final : public OutcomeSink {
public:
    void append(const OutcomeRecord& /*record*/) override { ++count_; }

    void sync() override {}

private:
    std::uint64_t count_ = 0;
};

struct Job {
    std::string_view mode;
    std::uint64_t amount = 0;
};

void require(bool truth, const char* what) {
    if (!truth) throw Error(what);
}

Incoming next(Transport& transport) {
    for (;;) {
        if (auto message = transport.receive()) return std::move(*message);
        transport.wait({}, std::chrono::seconds(10));
    }
}

std::string echo_text(PeerId peer, std::size_t size) {
    return std::string(size, static_cast<char>('a' + peer % 26));
}

/// To all workers at once, so that long and short messages of several peers are under way together.
void check_echoes(Transport& transport) {
    const std::size_t sizes[] = {0, 1, 100, 5000, piece_bytes, piece_bytes + 1, 3'000'000, 7};
    for (const PeerId peer : transport.peers())
        for (const std::size_t size : sizes)
            transport.send(peer, echo_text(peer, size));
    std::map<PeerId, std::size_t> seen;
    for (std::size_t left = transport.peers().size() * std::size(sizes); left > 0; --left) {
        const Incoming message = next(transport);
        const std::size_t size = sizes[seen[message.from]++];
        require(message.bytes == echo_text(message.from, size), "an echo is not what was sent");
    }
    for (const PeerId peer : transport.peers())
        transport.send(peer, "end of echoes");
}

void echo(Transport& transport) {
    for (;;) {
        Incoming message = next(transport);
        if (message.bytes == "end of echoes") return;
        transport.send(message.from, std::move(message.bytes));
    }
}

void run_worker(Transport& transport, const std::string& build, bool dies) {
    const SystemClock clock;
    Hello hello;
    hello.build = build;
    hello.node.node = hello.node.host = fmt::format("node {}", transport.self());
    WorkerSettings settings;
    settings.welcome = introduce(transport, clock, hello, handshake_limit);
    if (dies) static_cast<void>(std::raise(SIGKILL));
    NullExecutor executor({settings.welcome.part, settings.welcome.worker, settings.host});
    CountingSink sink;
    const WorkerResult result = WorkerLoop(transport, executor, sink, clock, std::move(settings)).run();
    require(result.end == WorkerEnd::stopped, "a worker ended, but not because it was told to");
}

void run_controller(Transport& transport, const Job& job) {
    ScriptedController controller(transport, window);
    if (job.mode == "messages") check_echoes(transport);
    controller.gather(job.mode == "idle" ? 5 : 1);
    if (job.mode == "idle") {
        fmt::print("idle\n");
        static_cast<void>(std::fflush(stdout));
        controller.idle(std::chrono::seconds(job.amount));
    } else if (job.mode == "throughput") {
        const auto begin = std::chrono::steady_clock::now();
        controller.run_items(job.amount);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        fmt::print("{:.0f} items/s\n", static_cast<double>(job.amount) / took.count());
    } else if (job.mode == "loss") {
        const PeerId last = transport.peers().back();
        controller.run_items(items, {last});
        controller.reassign(last);
    } else {
        controller.run_items(items);
    }
    controller.stop();
}

/// The worker of a process that is the controller too.
std::thread local_worker(std::unique_ptr<InProcessTransport> transport, const Job& job) {
    return std::thread([transport = std::move(transport), job] {
        if (job.mode == "messages") echo(*transport);
        run_worker(*transport, "test", false);
        transport->close(Duration::zero());
    });
}

/// With one rank only, its process is a worker too.
void serve_as_controller(Transport& transport, const Job& job) {
    try {
        run_controller(transport, job);
        require(job.mode != "mismatch", "a rank of another build was accepted");
    } catch (const HandshakeError& error) {
        require(job.mode == "mismatch", error.what());
        require(std::string_view(error.what()).find("build other") != std::string_view::npos, error.what());
    }
}

bool controller_rank(MpiTransport& mpi, const Job& job) {
    bool in_order = false;
    const Duration limit = std::chrono::seconds(job.mode == "loss" ? 2 : 20);
    if (mpi.world_size() == 1) {
        auto star = in_process_star({0, mpi.world_size()});
        std::thread worker = local_worker(std::move(star[1]), job);
        CompositeTransport both(mpi, *star[0]);
        serve_as_controller(both, job);
        worker.join();
        in_order = both.close(limit);
    } else {
        serve_as_controller(mpi, job);
        in_order = mpi.close(limit);
    }
    require(in_order != (job.mode == "loss"), "the end was not as expected");
    fmt::print("OK\n");
    static_cast<void>(std::fflush(stdout));
    if (in_order) mpi.finalize();
    return in_order;
}

bool worker_rank(MpiTransport& transport, const Job& job) {
    const bool last = transport.self() + 1 == transport.world_size();
    if (job.mode == "messages") echo(transport);
    try {
        run_worker(transport, job.mode == "mismatch" && last ? "other" : "test", job.mode == "loss" && last);
    } catch (const HandshakeError& error) {
        require(job.mode == "mismatch", error.what());
    }
    const bool in_order = transport.close(std::chrono::seconds(30));
    if (in_order) transport.finalize();
    return in_order;
}

} // namespace

int main(int argc, char** argv) {
    const Job job{argc > 1 ? argv[1] : "messages", argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0};
    try {
        MpiTransport mpi(MpiOptions{.piece_bytes = piece_bytes});
        const bool in_order = mpi.self() == 0 ? controller_rank(mpi, job) : worker_rank(mpi, job);
        if (!in_order) std::_Exit(0);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        std::_Exit(1);
    }
}
