#include "program.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/id.hpp>
#include <tessera/base/text.hpp>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <unistd.h>

namespace tessera::test {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds patience{120};

bool belongs_to_launcher(std::string_view entry) {
    for (const std::string_view prefix :
         {"OMPI_", "PMIX_", "PMI_", "HYDRA_", "HYDI_", "PALS_", "SLURM_", "TESSERA_"})
        if (entry.substr(0, prefix.size()) == prefix) return true;
    return false;
}

std::vector<std::string> environment(const Command& command, const std::string& scratch) {
    // Later entries win; what MPI leaves behind after a kill goes with the folder.
    std::vector<std::string> wanted = {
        "TMPDIR=" + scratch,
        "OMPI_MCA_btl_vader_backing_directory=" + scratch,
        "OMPI_ALLOW_RUN_AS_ROOT=1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        std::string("PATH=" TESSERA_BIN_DIR ":") + std::getenv("PATH"),
    };
    wanted.insert(wanted.end(), command.env.begin(), command.env.end());
    std::vector<std::string> result;
    const auto add = [&](const std::string& entry) {
        const std::string name = entry.substr(0, entry.find('=') + 1);
        std::erase_if(result, [&](const std::string& other) { return other.rfind(name, 0) == 0; });
        result.push_back(entry);
    };
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (!belongs_to_launcher(*entry)) add(*entry);
    for (const std::string& entry : wanted)
        add(entry);
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words)
        result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

class SpawnSettings {
public:
    SpawnSettings(const std::string& cwd, const std::string& out, const std::string& err) {
        constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), flags, 0600);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), flags, 0600);
        if (!cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
    }

    ~SpawnSettings() {
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }

    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

} // namespace

TemporaryFolder::TemporaryFolder()
    : path_((fs::temp_directory_path() / ("tessera-" + Id128::random().short_hex())).string()) {
    fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(std::string_view name, std::string_view text) const {
    fs::create_directories(fs::path(file(name)).parent_path());
    write_file_atomically(file(name), text);
    return file(name);
}

std::string TemporaryFolder::read(std::string_view name) const {
    return has(name) ? read_file(file(name)) : std::string();
}

std::vector<std::string> TemporaryFolder::lines(std::string_view name) const {
    std::vector<std::string> result = split(read(name), '\n');
    if (!result.empty() && result.back().empty()) result.pop_back();
    return result;
}

RunningProgram::RunningProgram(const Command& command) {
    const SpawnSettings settings(command.cwd, streams_.file("out"), streams_.file("err"));
    std::vector<std::string> words = command.argv;
    std::vector<std::string> entries = environment(command, streams_.path());
    const int error = ::posix_spawnp(&pid_, words.front().c_str(), &settings.actions, &settings.attributes,
                                     pointers(words).data(), pointers(entries).data());
    if (error != 0) throw IoError("start", words.front(), error);
}

RunningProgram::~RunningProgram() {
    if (has_ended()) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void RunningProgram::signal(int number) const {
    if (!status_) ::kill(pid_, number);
}

bool RunningProgram::has_ended() {
    if (status_) return true;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    status_ = status;
    return true;
}

Outcome RunningProgram::wait() {
    const bool in_time = eventually([this] { return has_ended(); });
    Outcome outcome{-1, out(), err()};
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    REQUIRE_MESSAGE(in_time, "the program did not end");
    outcome.exit_code = WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_);
    return outcome;
}

Outcome run(const Command& command) {
    return RunningProgram(command).wait();
}

Command tessera_command(const std::string& cwd, std::vector<std::string> args) {
    args.insert(args.begin(), TESSERA_BIN_DIR "/tessera");
    return {std::move(args), cwd, {}};
}

Outcome run_tessera(const std::string& cwd, std::vector<std::string> args) {
    return run(tessera_command(cwd, std::move(args)));
}

bool eventually(const std::function<bool()>& condition) {
    const Moment end = SystemClock().now() + patience;
    while (!condition()) {
        if (SystemClock().now() > end) return false;
        ::poll(nullptr, 0, 5);
    }
    return true;
}

void require_code(const Outcome& outcome, int code) {
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == code);
}

std::string shell_campaign(std::string_view name, std::string_view x_values, std::string_view script,
                           std::string_view more) {
    return fmt::format("[campaign]\nname = \"{}\"\n\n[matrix]\nx = {}\n\n[workload]\n"
                       "command = [\"sh\", \"-c\", '''\n{}\n''', \"sh\", \"${{x}}\"]\n\n{}\n",
                       name, x_values, script, more);
}

nlohmann::json query(const std::string& cwd, const std::string& dir, std::vector<std::string> more) {
    std::vector<std::string> args = {"query", dir, "--format", "json"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = run_tessera(cwd, args);
    require_code(outcome, 0);
    return outcome.json();
}

std::string cell_id(const std::string& cwd, const std::string& dir, const std::string& where) {
    const nlohmann::json rows = query(cwd, dir, {"--where", where, "--columns", "cell"});
    REQUIRE(!rows.empty());
    return rows[0]["cell"];
}

} // namespace tessera::test
