#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/journal_writer.hpp>
#include <tessera/journal/replay.hpp>

#include <fmt/core.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace tessera;

namespace {

constexpr std::uint32_t attempt_count = 1'000'000;
constexpr std::uint32_t batch_items = 16;

StepKey step_key(std::uint32_t n) {
    StepKey key;
    // Spread as hashes are.
    const std::uint64_t mixed = n * 0x9E3779B97F4A7C15ULL;
    std::memcpy(key.bytes.data(), &mixed, sizeof mixed);
    std::memcpy(key.bytes.data() + 8, &n, sizeof n);
    return key;
}

OutcomeRecord outcome(const std::string& part, std::uint32_t n) {
    OutcomeRecord record;
    record.attempt = {part, step_key(n), 1};
    record.claim = {"all", 1};
    record.exit_code = 0;
    record.worker = n % 64;
    record.host = "node0042";
    record.started_ns = 1'767'225'600'000'000'000 + n;
    record.ended_ns = record.started_ns + 1'000'000'000;
    record.duration_s = 1.0;
    record.user_s = 0.5;
    record.max_rss_bytes = 50'000'000;
    MetricPoint& point = record.metrics.emplace_back();
    point.name = "perplexity";
    point.value = 12.5;
    return record;
}

DispatchedRecord dispatched(std::uint32_t first) {
    DispatchedRecord record;
    record.claim = {"all", 1};
    record.at_ns = 1'767'225'600'000'000'000;
    for (std::uint32_t n = first; n < first + batch_items; ++n)
        record.items.push_back({step_key(n), 1, 1, {}});
    return record;
}

rusage usage() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage;
}

/// Of all threads of this process.
double cpu_time_s() {
    const auto in_seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    const rusage now = usage();
    return in_seconds(now.ru_utime) + in_seconds(now.ru_stime);
}

struct Result {
    std::string name;
    double duration_s;
    double cpu_s; ///< says more than the duration on a machine that is shared
    double rate_per_s;
};

class Bench {
public:
    explicit Bench(const std::string& folder)
        : directory_(CampaignDirectory::open_or_create(folder, "bench"))
        , part_(directory_.create_part(SystemClock().wall_ns())) {}

    void run() {
        measure("append and commit", attempt_count + attempt_count / batch_items, [&] { write(); });
        Acceptance acceptance;
        measure("replay into acceptance", attempt_count, [&] { replay(acceptance); });
        measure("ask for every step", attempt_count, [&] { ask(acceptance); });
        measure("open attempts", attempt_count, [&] { (void)acceptance.open_attempts(); });
    }

    void print() const {
        fmt::print("{:<24} {:>10} {:>10} {:>14}\n", "what", "time_s", "cpu_s", "per_s");
        for (const Result& result : results_)
            fmt::print("{:<24} {:>10.3f} {:>10.3f} {:>14.0f}\n", result.name, result.duration_s, result.cpu_s,
                       result.rate_per_s);
        fmt::print("peak memory: {:.0f} MB\n", static_cast<double>(usage().ru_maxrss) / 1024.0);
    }

    void write_json(const std::string& path) const {
        std::ofstream out(path);
        out << "[";
        for (std::size_t i = 0; i < results_.size(); ++i)
            out << fmt::format(R"({}{{"name": "{}", "duration_s": {}, "cpu_s": {}, "rate_per_s": {}}})",
                               i == 0 ? "" : ", ", results_[i].name, results_[i].duration_s,
                               results_[i].cpu_s, results_[i].rate_per_s);
        out << "]\n";
    }

private:
    template <typename Work>
    void measure(const char* name, double count, Work work) {
        const SystemClock clock;
        const Moment begin = clock.now();
        const double cpu_begin_s = cpu_time_s();
        work();
        const double duration_s = seconds(clock.now() - begin);
        results_.push_back({name, duration_s, cpu_time_s() - cpu_begin_s, count / duration_s});
    }

    void write() {
        JournalWriter journal(directory_.part_folder(part_), part_);
        for (std::uint32_t n = 0; n < attempt_count; ++n) {
            if (n % batch_items == 0) journal.append(dispatched(n));
            journal.append(outcome(part_, n));
        }
        journal.close();
    }

    void replay(Acceptance& acceptance) {
        read_campaign(directory_,
                      [&](const FramePosition& at, Record&& record) { acceptance.add(at, record); });
    }

    void ask(const Acceptance& acceptance) {
        std::uint32_t accepted = 0;
        acceptance.for_each_step(
            [&](const StepKey& key) { accepted += acceptance.step(key).accepted ? 1 : 0; });
        if (accepted != attempt_count) throw Error("the replay lost a result");
    }

    CampaignDirectory directory_;
    std::string part_;
    std::vector<Result> results_;
};

} // namespace

/// journal-bench FOLDER [JSON]: writes a journal of 10^6 attempts into a new folder and reads it back.
int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        fmt::print(stderr, "usage: journal-bench FOLDER [JSON]\n");
        return 2;
    }
    Bench bench(argv[1]);
    bench.run();
    bench.print();
    if (argc == 3) bench.write_json(argv[2]);
    return 0;
}
