#include <tessera/campaign/plan.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/resource.h>

// Plans a campaign of ten axes, all of them in the command, with all ids, keys and checks. Prints a table;
// with a file name as its argument writes the same as JSON.

namespace {

/// Six axes of four values and four of `last`: 4096 times last^4 cells.
std::string campaign(int last) {
    std::string text = "[campaign]\nname = \"bench\"\n[matrix]\n";
    std::string arguments;
    for (int axis = 0; axis < 10; ++axis) {
        const int values = axis < 6 ? 4 : last;
        text += fmt::format("axis{} = [0", axis);
        for (int value = 1; value < values; ++value)
            text += fmt::format(", {}", value);
        text += "]\n";
        arguments += fmt::format(", \"--axis{}=${{axis{}}}\"", axis, axis);
    }
    return text +
           fmt::format("[workload]\ncommand = [\"python3\", \"run.py\"{}]\n[resources]\ntimeout = \"10m\"\n",
                       arguments);
}

double cpu_s() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_rss_mb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

} // namespace

int main(int argc, char** argv) {
    auto results = nlohmann::json::array();
    fmt::print("{:>9}  {:>9}  {:>7}  {:>7}  {:>11}\n", "cells", "steps", "wall_s", "cpu_s", "peak_rss_mb");
    for (const int last : {1, 2, 3, 4}) {
        const std::string text = campaign(last);
        const double cpu_before_s = cpu_s();
        const auto start = std::chrono::steady_clock::now();
        const tessera::Plan plan = tessera::Plan::make(tessera::parse_campaign(text, "bench.toml"));
        const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const double used_s = cpu_s() - cpu_before_s;
        fmt::print("{:>9}  {:>9}  {:>7.3f}  {:>7.3f}  {:>11.1f}\n", plan.cell_count(), plan.step_count(),
                   wall_s, used_s, peak_rss_mb());
        results.push_back({{"cells", plan.cell_count()},
                           {"steps", plan.step_count()},
                           {"wall_s", wall_s},
                           {"cpu_s", used_s},
                           {"peak_rss_mb", peak_rss_mb()}});
    }
    if (argc > 1) std::ofstream(argv[1]) << results.dump(1) << '\n';
    return EXIT_SUCCESS;
}
