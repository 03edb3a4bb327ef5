#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/cli/version.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iostream>

namespace {

struct Subcommand {
    const char* name;
    int (*run)(const std::vector<std::string>&);
    const char* summary;
};

constexpr std::array<Subcommand, 9> subcommands = {{
    {"init", tessera::init_command, "write a commented example campaign"},
    {"plan", tessera::plan_command, "check a campaign and show its cells and steps"},
    {"run", tessera::run_command, "run a campaign, or what is missing of it"},
    {"status", tessera::status_command, "show how far a campaign is and what failed"},
    {"query", tessera::query_command, "show results as a table"},
    {"show", tessera::show_command, "show everything about one cell"},
    {"logs", tessera::logs_command, "print what a cell wrote to stdout and stderr"},
    {"exec", tessera::exec_command, "run one cell's step in the foreground, outside the store"},
    {"invalidate", tessera::invalidate_command,
     "have cells run again; their results are kept but not accepted"},
}};

void print_help() {
    std::cout << "usage: tessera COMMAND [ARGUMENTS]\n\n"
                 "Runs campaigns of experiments on HPC machines and keeps every result.\n\nCommands:\n";
    for (const Subcommand& command : subcommands)
        std::cout << fmt::format("  {:<11} {}\n", command.name, command.summary);
    std::cout << "\n`tessera COMMAND --help` tells more; `tessera --version` prints versions.\n";
}

int dispatch(const std::vector<std::string>& args) {
    if (args.empty() || args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
        print_help();
        return args.empty() ? 2 : 0;
    }
    if (args[0] == "--version") {
        std::cout << tessera::version_text();
        return 0;
    }
    const auto found = std::find_if(subcommands.begin(), subcommands.end(),
                                    [&](const Subcommand& command) { return args[0] == command.name; });
    if (found != subcommands.end()) return found->run({args.begin() + 1, args.end()});
    std::vector<std::string> names;
    for (const Subcommand& command : subcommands)
        names.emplace_back(command.name);
    throw tessera::UserError(fmt::format("unknown command '{}'{}; `tessera --help` lists them", args[0],
                                         tessera::did_you_mean(args[0], names)));
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int code = dispatch({argv + 1, argv + argc});
        std::cout.flush();
        if (std::cout || code != 0) return code;
        std::cerr << "tessera: the output could not be written: is the disk full, or was it closed?\n";
        return 1;
    } catch (const tessera::UserError& error) {
        std::cout.flush();
        std::cerr << "tessera: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cout.flush();
        std::cerr << "tessera: " << error.what() << '\n';
        return 1;
    }
}
