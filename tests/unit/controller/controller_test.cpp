#include "campaigns.hpp"

#include <tessera/base/fd.hpp>
#include <tessera/controller/controller.hpp>
#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/fault_files.hpp>
#include <tessera/protocol/in_process_transport.hpp>
#include <tessera/worker/executor_set.hpp>
#include <tessera/worker/null_executor.hpp>
#include <tessera/worker/worker_loop.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <thread>

using namespace tessera;

namespace {

const std::string part = "20260101T000000Z-00000000";

/// Keeps nothing: these tests end workers in order.
class NoSink final : public OutcomeSink {
public:
    void append(const OutcomeRecord&) override {}

    void sync() override {}
};

Welcome welcome(std::uint32_t worker) {
    Welcome message;
    message.worker = worker;
    message.part = part;
    message.core_slots = 2;
    return message;
}

/// A worker as it is, but for its executor and its thread.
void work(Transport& transport, std::uint32_t worker) {
    const SystemClock clock;
    const WorkerIdentity identity{part, worker, "host" + std::to_string(worker)};
    ExecutorSet executors(identity);
    executors.add("null", std::make_unique<NullExecutor>(identity));
    NoSink sink;
    WorkerSettings settings;
    settings.welcome = welcome(worker);
    settings.host = identity.host;
    WorkerLoop(transport, executors, sink, clock, settings).run();
    transport.close(from_seconds(5));
}

/// Takes work and answers nothing, until it has `items` of it; then its endpoint goes.
void die_with_work(Transport& transport, std::size_t items) {
    MessageDecoder decoder;
    std::size_t taken = 0;
    while (taken < items) {
        while (auto incoming = transport.receive()) {
            const Message message = decoder.decode(incoming->bytes, "controller");
            if (const auto* assign = std::get_if<Assign>(&message)) taken += assign->items.size();
        }
        if (taken < items) transport.wait({}, from_seconds(1));
    }
}

using WorkerBody = std::function<void(Transport&, std::uint32_t)>;

/// A controller with workers on threads, over a journal in a folder of its own.
class Scene {
public:
    explicit Scene(Plan plan, FileLayer& files = system_files())
        : plan_(std::move(plan))
        , journal_(make_part_folder(folder_), part, files) {
        hooks.stop_level = [] { return StopLevel::none; };
        hooks.superseded = [] { return false; };
        hooks.progress = [](const Progress&) {};
    }

    RunResult run(const std::vector<WorkerBody>& bodies) {
        std::vector<PeerId> ids = {0};
        for (std::size_t i = 0; i < bodies.size(); ++i)
            ids.push_back(static_cast<PeerId>(i + 1));
        auto endpoints = in_process_star(ids);
        const RunSelection selection = select_run(plan_, {}, [](const StepKey&) { return StepHistory(); });
        Controller controller(plan_, selection, {"all", 1}, part, journal_, *endpoints[0], clock_, hooks);
        std::vector<std::thread> threads;
        for (std::uint32_t i = 0; i < bodies.size(); ++i) {
            controller.add_worker({i + 1, "host" + std::to_string(i), {2, 0, 0}}, MessageEncoder(),
                                  MessageDecoder());
            threads.emplace_back([&bodies, i, endpoint = std::move(endpoints[i + 1])]() mutable {
                bodies[i](*endpoint, i);
                endpoint.reset();
            });
        }
        RunResult result = controller.run();
        for (std::thread& thread : threads)
            thread.join();
        return result;
    }

    /// What the journal tells.
    Acceptance replay() {
        journal_.close();
        Acceptance acceptance;
        const std::string bytes = read_file(folder_.path + "/parts/" + part + "/journal-0001");
        FrameScanner frames(bytes, stream_id(part));
        while (const auto frame = frames.next())
            if (const auto record = decode(static_cast<FrameType>(frame->type), frame->payload, "journal"))
                acceptance.add({part, frame->sequence}, *record);
        return acceptance;
    }

    const Plan& plan() const { return plan_; }

    ControllerHooks hooks;

private:
    static std::string make_part_folder(const TemporaryFolder& folder) {
        const std::string path = folder.path + "/parts/" + part;
        std::filesystem::create_directories(path);
        return path;
    }

    TemporaryFolder folder_;
    Plan plan_;
    SystemClock clock_;
    JournalWriter journal_;
};

} // namespace

TEST_CASE("every cell succeeds once and its result is in the journal") {
    Scene scene(null_plan(2000));
    std::uint64_t shown = 0;
    scene.hooks.progress = [&](const Progress& progress) { shown = progress.succeeded; };
    const RunResult result = scene.run({work, work, work});
    CHECK(result.succeeded == 2000);
    CHECK(result.left == 0);
    CHECK(result.attempts == 2000);
    CHECK(shown == 2000);
    const Acceptance acceptance = scene.replay();
    for (StepIndex step = 0; step < scene.plan().step_count(); ++step) {
        const StepView view = acceptance.step(scene.plan().step_key(step));
        REQUIRE(view.accepted.has_value());
        CHECK(view.attempts == 1);
    }
}

TEST_CASE("a worker that dies costs its attempts, which others run again") {
    Scene scene(null_plan(50, "[retry]\nbackoff = \"0s\"\n"));
    std::vector<std::string> told;
    scene.hooks.progress = [&](const Progress& progress) {
        told.insert(told.end(), progress.failures.begin(), progress.failures.end());
    };
    const RunResult result =
        scene.run({[](Transport& transport, std::uint32_t) { die_with_work(transport, 1); }, work});
    CHECK(result.succeeded == 50);
    REQUIRE_FALSE(result.lost.empty());
    CHECK(result.lost.front().failure == FailureClass::lost);
    CHECK(result.lost.front().host == "host0");
    REQUIRE_FALSE(told.empty());
    CHECK(told.front().find("host0 is lost") != std::string::npos);
}

TEST_CASE("a stop request ends the run with work left and nothing half-done") {
    Scene scene(null_plan(5000));
    std::uint64_t reports = 0;
    scene.hooks.stop_level = [&] { return ++reports > 3 ? StopLevel::drain : StopLevel::none; };
    const RunResult result = scene.run({work});
    CHECK(result.left > 0);
    CHECK(result.succeeded + result.left == 5000);
    CHECK(result.failed == 0);
    const Acceptance acceptance = scene.replay();
    std::uint64_t accepted = 0;
    for (StepIndex step = 0; step < scene.plan().step_count(); ++step)
        accepted += acceptance.step(scene.plan().step_key(step)).accepted ? 1 : 0;
    CHECK(accepted == result.succeeded);
}

TEST_CASE("when all workers are lost the run ends with what is left") {
    Scene scene(null_plan(10));
    const RunResult result =
        scene.run({[](Transport& transport, std::uint32_t) { die_with_work(transport, 1); }});
    CHECK(result.left == 10);
    CHECK(result.succeeded == 0);
}

TEST_CASE("a run that was taken over stops and says so") {
    Scene scene(null_plan(5000));
    std::uint64_t turns = 0;
    scene.hooks.superseded = [&] { return ++turns > 3; };
    const RunResult result = scene.run({work});
    CHECK(result.trouble.find("taken this campaign over") != std::string::npos);
}

TEST_CASE("a full disk stops the run in order and says so") {
    FaultFiles files;
    Scene scene(null_plan(3000), files);
    files.fail_writes_after(20000, ENOSPC);
    const RunResult result = scene.run({work, work});
    CHECK(result.trouble.find("No space left") != std::string::npos);
    CHECK(result.left > 0);
}

TEST_CASE("cells that ask for more than any worker has are told apart from work that is left") {
    Scene scene(null_plan(3, "[resources]\ncores = 64\n"));
    const RunResult result = scene.run({work});
    CHECK(result.unplaceable == 3);
    CHECK(result.too_large.find("64 cores") != std::string::npos);
    CHECK(result.left == 0);
}
