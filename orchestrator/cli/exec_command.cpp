#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/id.hpp>
#include <tessera/base/text.hpp>
#include <tessera/campaign/plan.hpp>
#include <tessera/cli/campaign_view.hpp>
#include <tessera/cli/cell_argument.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/controller/worker_host.hpp>
#include <tessera/store/step_spec_json.hpp>
#include <tessera/supervisor/cell_file.hpp>
#include <tessera/worker/environment.hpp>
#include <tessera/worker/inventory.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace po = boost::program_options;

namespace tessera {

namespace {

/// The step as it was handed out, or as `campaign_path` gives it if it never was.
StepSpec find_spec(const CampaignView& view, std::uint32_t cell, const std::string& campaign_path) {
    const Tables& tables = view.tables();
    const std::uint32_t step = tables.cells.last_step[cell];
    if (!tables.steps.spec[step].empty()) return step_spec_from_json(tables.steps.spec[step]);
    const std::string id = tables.cells.id[cell].short_hex();
    if (campaign_path.empty())
        throw UserError(fmt::format(
            "cell {} has not run yet, so its command is not in the store; add --campaign FILE", id));
    const Plan plan = Plan::load(campaign_path);
    const auto index = plan.find_step(tables.steps.key[step]);
    if (!index) throw UserError(fmt::format("{} has no cell {} any more", campaign_path, id));
    return plan.resolve(*index);
}

/// A folder that is not there yet.
std::string new_folder_path() {
    return (std::filesystem::temp_directory_path() / ("tessera-exec-" + Id128::random().short_hex()))
        .string();
}

struct Devices {
    std::vector<std::string> entries;
    std::string variable; ///< that shows them; empty if this process sees none
};

/// The first of those that this process sees, as many as the step asks for, as a worker here would give them.
/// Says what it chose, because the attempts of a run may have had others.
Devices choose_devices(std::uint32_t wanted) {
    Inventory inventory = take_inventory(own_environment());
    Devices devices{std::move(inventory.report.devices), std::move(inventory.visibility_variable)};
    const std::size_t seen = devices.entries.size();
    devices.entries.resize(std::min<std::size_t>(wanted, seen));
    if (wanted == 0) return devices;
    if (!devices.entries.empty())
        std::cerr << fmt::format("tessera exec: devices: {}={}\n", devices.variable,
                                 fmt::join(devices.entries, ","));
    if (seen < wanted)
        std::cerr << fmt::format("tessera exec: the step asks for {} devices, but only {} can be seen here; "
                                 "name them in CUDA_VISIBLE_DEVICES or the like\n",
                                 wanted, seen);
    return devices;
}

Environment exact_environment(const StepSpec& spec, const CampaignView& view, std::uint32_t cell,
                              const std::string& folder) {
    CellContext context;
    context.attempt = {"exec", view.tables().steps.key[view.tables().cells.last_step[cell]], 0};
    context.folder = folder;
    context.programs_folder = own_programs_folder();
    Devices devices = choose_devices(spec.resources.devices);
    context.visibility_variable = std::move(devices.variable);
    return cell_environment(own_environment(), spec, context, {{}, std::move(devices.entries)});
}

/// For a shell in any folder: makes the cell's own, and stays where it was.
std::string as_shell_line(const StepSpec& spec, const Environment& environment, const std::string& folder) {
    std::vector<std::string> words = {"env", "-i"};
    words.insert(words.end(), environment.begin(), environment.end());
    words.insert(words.end(), spec.argv.begin(), spec.argv.end());
    const std::string input =
        spec.stdin_text ? "printf %s " + shell_quote(*spec.stdin_text) + " | " : std::string();
    return fmt::format("(mkdir -p -m 700 {0} && cd {0} && printf %s {1} > {2} && {3}{4}{5})",
                       shell_quote(folder), shell_quote(spec.axes_json), attempt_file::axes, input,
                       shell_line(words), spec.stdin_text ? "" : " </dev/null");
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> out;
    for (std::string& word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

/// Runs in the child only.
[[noreturn]] void become_cell(std::vector<std::string>& argv, Environment& environment,
                              const std::string& folder, int stdin_fd) {
    const auto words = pointers(argv);
    auto entries = pointers(environment);
    if (::chdir(folder.c_str()) == 0 && ::dup2(stdin_fd, STDIN_FILENO) == STDIN_FILENO) {
        ::environ = entries.data();
        ::execvp(words[0], words.data());
    }
    std::cerr << "tessera exec: cannot run " << argv.front() << ": " << std::strerror(errno) << '\n';
    ::_exit(127);
}

int run_in_foreground(StepSpec spec, Environment environment, const std::string& folder) {
    std::string input_path = "/dev/null";
    if (spec.stdin_text) {
        input_path = folder + "/tessera.stdin";
        write_file_atomically(input_path, *spec.stdin_text);
    }
    const UniqueFd input = open_file(input_path, O_RDONLY);
    std::cout.flush();
    const pid_t pid = ::fork();
    if (pid < 0) throw IoError("start", spec.argv.front(), errno);
    if (pid == 0) become_cell(spec.argv, environment, folder, input.get());
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void show_metrics(const std::string& folder, std::uint64_t limit_bytes) {
    const std::string path = folder + '/' + std::string(attempt_file::metrics);
    if (!std::filesystem::exists(std::filesystem::symlink_status(path))) return;
    try {
        std::cerr << "tessera exec: metrics\n" << read_cell_file(path, limit_bytes);
    } catch (const Error& error) {
        std::cerr << fmt::format("tessera exec: {}\n", error.what());
    }
}

} // namespace

int exec_command(const std::vector<std::string>& args) {
    bool print = false;
    std::string campaign_path;
    po::options_description options("Options");
    options.add_options()("print", po::bool_switch(&print), "print it as a shell line instead of running it")(
        "campaign", po::value(&campaign_path), "the campaign file, for a cell that has not run yet");
    const auto argument = parse_cell_argument(
        "usage: tessera exec DIR CELL [OPTIONS]\n\nRuns one cell's step in the foreground "
        "with its exact environment, in a new folder, without touching the store.",
        args, options);
    if (!argument) return 0;
    const CampaignView view = open_campaign(argument->dir, StepTexts::read);
    const std::uint32_t cell = view.find_cell(argument->cell);
    const StepSpec spec = find_spec(view, cell, campaign_path);
    const std::string folder = new_folder_path();
    Environment environment = exact_environment(spec, view, cell, folder);
    if (print) {
        std::cout << as_shell_line(spec, environment, folder) << '\n';
        return 0;
    }
    if (::mkdir(folder.c_str(), 0700) != 0) throw IoError("make the folder", folder, errno);
    write_file_atomically(folder + '/' + std::string(attempt_file::axes), spec.axes_json);
    std::cerr << fmt::format("tessera exec: in {}: {}\n", folder, shell_line(spec.argv));
    const int code = run_in_foreground(spec, std::move(environment), folder);
    show_metrics(folder, spec.metrics_limit_bytes);
    std::cerr << fmt::format("tessera exec: exit code {}, files in {}\n", code, folder);
    return code;
}

} // namespace tessera
