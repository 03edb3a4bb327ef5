#include <tessera/base/error.hpp>
#include <tessera/program/benchmark.hpp>
#include <tessera/program/evaluate.hpp>
#include <tessera/program/options.hpp>
#include <tessera/program/report.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <variant>

namespace {

using namespace tessera::llm;

constexpr int exit_failure = 1;
constexpr int exit_bad_input = 2;

struct Runner {
    void operator()(const Notice& notice) const { fmt::print("{}", notice.text); }

    void operator()(const EvaluateOptions& options) const {
        print_report(evaluate(options), options.common.format);
    }

    void operator()(const BenchmarkOptions& options) const {
        print_report(benchmark(options), options.common.format);
    }
};

} // namespace

int main(int argc, char** argv) {
    try {
        std::visit(Runner(), parse_command_line(argc, argv));
        return std::fflush(stdout) == 0 ? 0 : exit_failure;
    } catch (const tessera::UserError& error) {
        fmt::print(stderr, "tessera-llm: {}\n", error.what());
        return exit_bad_input;
    } catch (const tessera::IoError& error) {
        fmt::print(stderr, "tessera-llm: {}\n", error.what());
        return exit_bad_input;
    } catch (const std::exception& error) {
        fmt::print(stderr, "tessera-llm: {}\n", error.what());
        return exit_failure;
    }
}
