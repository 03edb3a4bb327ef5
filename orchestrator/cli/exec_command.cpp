#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/text.hpp>
#include <tessera/campaign/plan.hpp>
#include <tessera/cli/campaign_view.hpp>
#include <tessera/cli/cell_argument.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/controller/worker_host.hpp>
#include <tessera/store/step_spec_json.hpp>
#include <tessera/worker/environment.hpp>

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sys/wait.h>

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

std::string make_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tessera-exec-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw IoError("make a folder like", pattern, errno);
    return pattern;
}

Environment exact_environment(const StepSpec& spec, const CampaignView& view, std::uint32_t cell,
                              const std::string& folder) {
    CellContext context;
    context.attempt = {"exec", view.tables().steps.key[view.tables().cells.last_step[cell]], 0};
    context.folder = folder;
    context.programs_folder = own_programs_folder();
    return cell_environment(own_environment(), spec, context, {});
}

std::string as_shell_line(const StepSpec& spec, const Environment& environment) {
    std::vector<std::string> words = {"env", "-i"};
    words.insert(words.end(), environment.begin(), environment.end());
    words.insert(words.end(), spec.argv.begin(), spec.argv.end());
    const std::string input =
        spec.stdin_text ? "printf %s " + shell_quote(*spec.stdin_text) + " | " : std::string();
    return input + shell_line(words) + (spec.stdin_text ? "" : " </dev/null");
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
    if (print) {
        std::cout << as_shell_line(spec, exact_environment(spec, view, cell, ".")) << '\n';
        return 0;
    }
    const std::string folder = make_folder();
    write_file_atomically(folder + '/' + std::string(attempt_file::axes), spec.axes_json);
    std::filesystem::create_directory(folder + '/' + std::string(attempt_file::artifact));
    std::cerr << fmt::format("tessera exec: in {}: {}\n", folder, shell_line(spec.argv));
    const int code = run_in_foreground(spec, exact_environment(spec, view, cell, folder), folder);
    const std::string metrics = folder + '/' + std::string(attempt_file::metrics);
    if (std::filesystem::exists(metrics)) std::cerr << "tessera exec: metrics\n" << read_file(metrics);
    std::cerr << fmt::format("tessera exec: exit code {}, files in {}\n", code, folder);
    return code;
}

} // namespace tessera
