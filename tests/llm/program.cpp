#include "program.hpp"
#include "temporary_folder.hpp"

#include <tessera/base/fd.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <sys/wait.h>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace tessera::llm::test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words)
        result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

/// Spawns with output into files and waits; the exit code, or -1 for a signal.
int spawn_and_wait(std::vector<std::string> words, std::vector<std::string> environment,
                   const std::string& out, const std::string& err) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), flags, 0600);
    const auto argv = pointers(words);
    const auto envp = pointers(environment);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, argv.front(), &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("posix_spawn failed");
    int status = 0;
    if (::waitpid(pid, &status, 0) != pid) throw std::runtime_error("waitpid failed");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

Outcome run_program(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& more_environment) {
    const TemporaryFolder folder;
    std::vector<std::string> words{std::string(TESSERA_BIN_DIR) + "/tessera-llm"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = more_environment;
    for (char** entry = ::environ; *entry != nullptr; ++entry)
        environment.emplace_back(*entry);
    Outcome outcome;
    outcome.exit_code = spawn_and_wait(words, environment, folder.file("out"), folder.file("err"));
    outcome.out = read_file(folder.file("out"));
    outcome.err = read_file(folder.file("err"));
    return outcome;
}

nlohmann::json evaluate_shipped(const std::string& text, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"evaluate", "--model", (data_folder() / "stories260K-hf").string(),
                                       "--data",   text,      "--format",
                                       "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return outcome.json();
}

} // namespace tessera::llm::test
