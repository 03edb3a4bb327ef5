#include <tessera/base/fd.hpp>
#include <tessera/base/id.hpp>
#include <tessera/journal/log_pack.hpp>
#include <tessera/worker/executor_set.hpp>
#include <tessera/worker/null_executor.hpp>
#include <tessera/worker/process_executor.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

/// A campaign directory, a supervisor and a process executor, with the events that came.
class Bench {
public:
    explicit Bench(Duration settle_time = std::chrono::milliseconds(1))
        : dir_((fs::temp_directory_path() / ("tessera-" + Id128::random().hex())).string())
        , supervisor(TESSERA_BIN_DIR "/tessera-supervisor") {
        fs::create_directories(dir_ + "/parts/part");
        ProcessExecutorConfig config;
        config.worker = {"part", 3, "host"};
        config.campaign_dir = dir_;
        config.programs_folder = TESSERA_BIN_DIR;
        config.visibility_variable = "FAKE_DEVICES";
        config.base_environment = {"PATH=/usr/bin:/bin", "OMPI_COMM_WORLD_RANK=1"};
        config.metrics_interval = std::chrono::milliseconds(5);
        config.settle_time = settle_time;
        executor = std::make_unique<ProcessExecutor>(std::move(config), supervisor);
    }

    ~Bench() {
        executor.reset();
        fs::remove_all(dir_);
    }

    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    static WorkItem item(std::vector<std::string> argv) {
        static std::uint64_t next_ticket = 1;
        WorkItem item;
        item.ticket = next_ticket++;
        item.step = Id128::random();
        item.number = 2;
        item.generation = 4;
        item.claim = {"cpu-a", 7};
        item.spec.name = "workload";
        item.spec.executor = "cpu";
        item.spec.argv = std::move(argv);
        item.spec.axes_json = R"({"x":1})";
        item.spec.grace_s = 0.1;
        return item;
    }

    static WorkItem shell(std::string script) { return item({"sh", "-c", std::move(script)}); }

    void read_until(const std::function<bool()>& condition) {
        const Moment end = SystemClock().now() + std::chrono::seconds(30);
        while (!condition()) {
            REQUIRE(SystemClock().now() < end);
            std::vector<pollfd> fds = executor->poll_fds();
            ::poll(fds.data(), fds.size(), 5);
            for (Executor::Event& event : executor->poll()) {
                if (const auto* begun = std::get_if<StartedEvent>(&event)) started[begun->ticket] = *begun;
                if (const auto* news = std::get_if<MetricsEvent>(&event)) metrics.push_back(*news);
                if (const auto* ended = std::get_if<EndedEvent>(&event))
                    outcomes[ended->ticket] = ended->outcome;
            }
        }
    }

    OutcomeRecord outcome(const WorkItem& item) {
        read_until([&] { return outcomes.count(item.ticket) > 0; });
        return outcomes[item.ticket];
    }

    OutcomeRecord run(const WorkItem& item, const Placement& placement = {}) {
        executor->start(item, placement);
        return outcome(item);
    }

    std::string path(const std::string& relative) const { return dir_ + "/" + relative; }

    static std::string folder(const WorkItem& item) {
        return "attempts/" + AttemptId{"part", item.step, item.number}.text();
    }

private:
    std::string dir_;

public:
    SupervisorClient supervisor;
    std::unique_ptr<ProcessExecutor> executor;
    std::map<std::uint64_t, StartedEvent> started;
    std::vector<MetricsEvent> metrics;
    std::map<std::uint64_t, OutcomeRecord> outcomes;
};

} // namespace

TEST_CASE("a success is complete and leaves its logs in the pack only") {
    Bench bench;
    const WorkItem item =
        Bench::shell("echo out; echo err >&2; echo '{\"metric\": \"m\", \"value\": NaN}' >> $TESSERA_METRICS;"
                     "echo bad >> $TESSERA_METRICS; cat $TESSERA_AXES; echo $FAKE_DEVICES");
    const OutcomeRecord outcome = bench.run(item, {{0}, {"d1", "d2"}});
    CHECK(outcome.attempt == AttemptId{"part", item.step, 2});
    CHECK(outcome.generation == 4);
    CHECK(outcome.claim == ClaimRef{"cpu-a", 7});
    CHECK(outcome.kind == OutcomeKind::succeeded);
    CHECK(outcome.message.empty());
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.worker == 3);
    CHECK(outcome.host == "host");
    CHECK(outcome.devices == std::vector<std::string>{"d1", "d2"});
    CHECK(outcome.cpus == std::vector<std::uint32_t>{0});
    CHECK(outcome.duration_s > 0);
    CHECK(outcome.max_rss_bytes > 0);
    CHECK(outcome.ended_ns >= outcome.started_ns);
    CHECK(outcome.stderr_bytes == 4);
    REQUIRE(outcome.metrics.size() == 1);
    CHECK(std::isnan(outcome.metrics[0].value));
    CHECK(outcome.metric_problems.size() == 1);
    CHECK(outcome.folder.empty());
    CHECK_FALSE(fs::exists(bench.path(Bench::folder(item))));
    CHECK(outcome.log_pack == "parts/part/logs-3.pack");
    const LogEntry logs = read_log_entry(bench.path(outcome.log_pack), outcome.log_pack_offset);
    CHECK(logs.attempt == outcome.attempt);
    CHECK(logs.stdout_text == "out\n{\"x\":1}d1,d2\n");
    CHECK(logs.stderr_text == "err\n");
    CHECK(bench.started[item.ticket].devices == outcome.devices);
}

TEST_CASE("a failure keeps its folder and says its last words") {
    Bench bench;
    const WorkItem item = Bench::shell("echo made > result; echo first >&2; echo last words >&2; exit 3");
    const OutcomeRecord outcome = bench.run(item);
    CHECK(outcome.kind == OutcomeKind::failed);
    CHECK(outcome.failure == FailureClass::exit);
    CHECK(outcome.message == "exit code 3; last line of stderr: last words");
    CHECK(outcome.folder == Bench::folder(item));
    CHECK(outcome.log_pack.empty());
    CHECK(read_file(bench.path(outcome.folder) + "/tessera.stderr") == "first\nlast words\n");
    CHECK(fs::exists(bench.path(outcome.folder) + "/result"));
}

TEST_CASE("files that a success made stay in its folder") {
    Bench bench;
    const OutcomeRecord outcome = bench.run(Bench::shell("echo made > result"));
    REQUIRE_FALSE(outcome.folder.empty());
    CHECK(read_file(bench.path(outcome.folder) + "/result") == "made\n");
    CHECK_FALSE(fs::exists(bench.path(outcome.folder) + "/tessera.axes.json"));
    WorkItem none = Bench::shell("echo made > result");
    none.spec.keep_attempts = KeepAttempts::none;
    CHECK(bench.run(none).folder.empty());
}

TEST_CASE("a cell that replaces its log loses it, and nothing hangs") {
    Bench bench;
    WorkItem item = Bench::shell("echo out; echo err >&2; while [ ! -s tessera.stdout ]; do sleep 0.01; done;"
                                 "rm tessera.stdout; eval \"$DO\"");
    SUBCASE("by a FIFO") {
        item.spec.env = {{"DO", "mkfifo tessera.stdout"}};
    }
    SUBCASE("by a link to what never ends") {
        item.spec.env = {{"DO", "ln -s /dev/zero tessera.stdout"}};
    }
    SUBCASE("by nothing") {
        item.spec.env = {{"DO", "true"}};
    }
    const OutcomeRecord outcome = bench.run(item);
    CHECK(outcome.kind == OutcomeKind::succeeded);
    CHECK(outcome.stdout_bytes == 4);
    CHECK(outcome.stdout_truncated);
    CHECK_FALSE(outcome.stderr_truncated);
    const LogEntry logs = read_log_entry(bench.path(outcome.log_pack), outcome.log_pack_offset);
    CHECK(logs.stdout_text.empty());
    CHECK(logs.stderr_text == "err\n");
    CHECK_FALSE(fs::exists(bench.path(Bench::folder(item))));
}

TEST_CASE("an outcome says why a log is not whole") {
    Bench bench;
    const OutcomeRecord outcome = bench.run(
        Bench::shell("ln -s ../elsewhere tessera.stderr; echo err >&2; echo bad >> $TESSERA_METRICS"));
    CHECK(outcome.kind == OutcomeKind::succeeded);
    CHECK(outcome.message.empty());
    CHECK(outcome.stderr_bytes == 4);
    CHECK(outcome.stderr_truncated);
    REQUIRE(outcome.metric_problems.size() == 2);
    CHECK(outcome.metric_problems[0].find("stderr was not kept in full: ") == 0);
    CHECK(outcome.metric_problems[0].find("tessera.stderr: not a regular file") != std::string::npos);
    CHECK(outcome.metric_problems[1].find("line 1: ") == 0);
}

TEST_CASE("a log that the cell itself made large is read up to the limit") {
    Bench bench;
    WorkItem item = Bench::shell("echo out; while [ ! -s tessera.stdout ]; do sleep 0.01; done;"
                                 "head -c 1000000 /dev/zero >> tessera.stdout");
    item.spec.log_limit_bytes = 1000;
    const OutcomeRecord outcome = bench.run(item);
    const LogEntry logs = read_log_entry(bench.path(outcome.log_pack), outcome.log_pack_offset);
    CHECK(logs.stdout_text.size() == 1000);
}

TEST_CASE("a program that is not there leaves nothing but a message") {
    Bench bench;
    const WorkItem item = Bench::item({"no-such-command-anywhere"});
    const OutcomeRecord outcome = bench.run(item);
    CHECK(outcome.kind == OutcomeKind::failed);
    CHECK(outcome.message.find("command not found: 'no-such-command-anywhere'") == 0);
    CHECK_FALSE(fs::exists(bench.path(Bench::folder(item))));
    CHECK(bench.started.empty());
}

TEST_CASE("a folder that cannot be made fails the start only") {
    Bench bench;
    const WorkItem item = Bench::shell("true");
    fs::create_directories(bench.path(Bench::folder(item)));
    const OutcomeRecord outcome = bench.run(item);
    CHECK(outcome.failure == FailureClass::spawn);
    CHECK(outcome.message.find(Bench::folder(item)) != std::string::npos);
    CHECK(bench.run(Bench::shell("true")).kind == OutcomeKind::succeeded);
}

TEST_CASE("metrics are streamed while the process runs") {
    Bench bench;
    const WorkItem item =
        Bench::shell("echo '{\"metric\": \"loss\", \"value\": 2, \"step\": 1}' >> $TESSERA_METRICS;"
                     "while [ ! -e go ]; do sleep 0.01; done;"
                     "printf '{\"metric\": \"loss\", \"value\": 1, \"step\": 2}' >> $TESSERA_METRICS; rm go");
    bench.executor->start(item, {});
    bench.read_until([&] { return !bench.metrics.empty(); });
    CHECK(bench.outcomes.empty());
    CHECK(bench.metrics[0].ticket == item.ticket);
    REQUIRE(bench.metrics[0].points.size() == 1);
    CHECK(bench.metrics[0].points[0].value == 2);
    open_file(bench.path(Bench::folder(item)) + "/go", O_WRONLY | O_CREAT);
    const OutcomeRecord outcome = bench.outcome(item);
    REQUIRE(outcome.metrics.size() == 2);
    CHECK(outcome.metrics[1].series_index == 2);
}

TEST_CASE("stops") {
    Bench bench;
    const WorkItem item = Bench::shell("trap '' TERM; echo ready > ready; while :; do sleep 0.01; done");
    bench.executor->start(item, {});
    bench.read_until([&] { return fs::exists(bench.path(Bench::folder(item)) + "/ready"); });
    SUBCASE("with the grace time") {
        bench.executor->stop(item.ticket, StopReason::preempt);
    }
    SUBCASE("at once") {
        bench.executor->stop(item.ticket, StopReason::kill);
    }
    const OutcomeRecord outcome = bench.outcome(item);
    CHECK(outcome.kind == OutcomeKind::preempted);
    CHECK(outcome.failure == FailureClass::preempted);
    CHECK(outcome.signal == SIGKILL);
    bench.executor->stop(item.ticket, StopReason::kill);
    CHECK(bench.executor->poll().empty());
}

TEST_CASE("a timeout") {
    Bench bench;
    WorkItem item = Bench::shell("echo working; exec sleep 1000");
    item.spec.timeout_s = 0.1;
    const OutcomeRecord outcome = bench.run(item);
    CHECK(outcome.kind == OutcomeKind::timed_out);
    CHECK(outcome.message.find("timed out after") == 0);
}

TEST_CASE("a death by a signal that we did not send") {
    const WorkItem item = Bench::shell("kill -TERM $$");
    SUBCASE("is a crash if no stop follows") {
        Bench bench;
        const OutcomeRecord outcome = bench.run(item);
        CHECK(outcome.failure == FailureClass::crash);
        CHECK(outcome.signal == SIGTERM);
    }
    SUBCASE("is a preemption if one follows") {
        Bench bench(std::chrono::hours(1));
        bench.executor->start(item, {});
        bench.read_until([&] { return !bench.started.empty(); });
        bench.executor->stop(item.ticket, StopReason::preempt);
        CHECK(bench.outcome(item).kind == OutcomeKind::preempted);
    }
}

TEST_CASE("a dead supervisor loses what ran and nothing else") {
    Bench bench;
    const WorkItem item = Bench::shell("echo ready > ready; exec sleep 1000");
    bench.executor->start(item, {});
    bench.read_until([&] { return fs::exists(bench.path(Bench::folder(item)) + "/ready"); });
    ::kill(bench.supervisor.pid(), SIGKILL);
    const OutcomeRecord outcome = bench.outcome(item);
    CHECK(outcome.kind == OutcomeKind::lost);
    CHECK(outcome.failure == FailureClass::lost);
    CHECK(outcome.message.find("signal 9") != std::string::npos);
    CHECK(bench.run(Bench::shell("true")).kind == OutcomeKind::succeeded);
}

TEST_CASE("successes without files cost no inodes") {
    Bench bench;
    constexpr int cells = 100;
    for (int i = 0; i < cells; ++i) {
        const WorkItem item = Bench::shell(
            "echo $TESSERA_ATTEMPT; echo '{\"metric\": \"m\", \"value\": 1}' >> $TESSERA_METRICS");
        REQUIRE(bench.run(item).kind == OutcomeKind::succeeded);
    }
    int entries = 0;
    for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(bench.path("")))
        ++entries;
    CHECK(entries <= 5); // attempts, its part's folder, parts, its part's folder, the pack
}

TEST_CASE("the null executor succeeds at once") {
    NullExecutor executor({"part", 3, "host"});
    CHECK_FALSE(executor.next_deadline().has_value());
    const WorkItem item = Bench::item({});
    executor.start(item, {{1, 2}, {"d"}});
    REQUIRE(executor.next_deadline().has_value());
    CHECK(*executor.next_deadline() <= SystemClock().now());
    const std::vector<Executor::Event> events = executor.poll();
    REQUIRE(events.size() == 1);
    const EndedEvent& ended = std::get<EndedEvent>(events[0]);
    CHECK(ended.ticket == item.ticket);
    CHECK(ended.outcome.kind == OutcomeKind::succeeded);
    CHECK(ended.outcome.duration_s == 0);
    CHECK(ended.outcome.devices == std::vector<std::string>{"d"});
    CHECK(executor.poll().empty());
}

TEST_CASE("a set gives attempts to the executor that they name") {
    ExecutorSet set({"part", 3, "host"});
    set.add("null", std::make_unique<NullExecutor>(WorkerIdentity{"part", 3, "host"}));
    WorkItem known = Bench::item({});
    known.spec.executor = "null";
    WorkItem unknown = Bench::item({});
    unknown.spec.executor = "nul";
    set.start(known, {});
    set.start(unknown, {});
    set.stop(unknown.ticket, StopReason::kill);
    CHECK(set.poll_fds().empty());
    CHECK(set.next_deadline().has_value());
    const std::vector<Executor::Event> events = set.poll();
    REQUIRE(events.size() == 2);
    for (const Executor::Event& event : events) {
        const EndedEvent& ended = std::get<EndedEvent>(event);
        if (ended.ticket == known.ticket) {
            CHECK(ended.outcome.kind == OutcomeKind::succeeded);
            continue;
        }
        CHECK(ended.outcome.failure == FailureClass::verdict);
        CHECK(ended.outcome.message ==
              "worker 3 on host has no executor 'nul' (did you mean 'null'?); it has: null");
    }
    CHECK_FALSE(set.next_deadline().has_value());
}
