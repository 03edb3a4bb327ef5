#pragma once

#include <tessera/base/clock.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tessera::test {

/// A folder that goes with its object.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }

    std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

    /// Makes a file; returns its path.
    std::string write(std::string_view name, std::string_view text) const;

    /// Its text, empty if it is not there.
    std::string read(std::string_view name) const;

    bool has(std::string_view name) const { return std::filesystem::exists(file(name)); }

    /// The lines of a file that is there or not yet.
    std::vector<std::string> lines(std::string_view name) const;

private:
    std::string path_;
};

/// How to start a program. The environment is this process' own without what a launcher or an outer Tessera
/// set, with the built programs at the front of PATH and `env` ("NAME=value") over it.
struct Command {
    std::vector<std::string> argv;
    std::string cwd = {};
    std::vector<std::string> env = {};
};

struct Outcome {
    int exit_code = -1; ///< 128 plus the signal if one ended it
    std::string out;
    std::string err;

    nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A program in a process group of its own, with its output in files. If it still runs when this object goes,
/// its group is killed.
class RunningProgram {
public:
    explicit RunningProgram(const Command& command);
    ~RunningProgram();
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    pid_t pid() const { return pid_; }

    /// To the program alone.
    void signal(int number) const;

    bool has_ended();

    /// Waits for its end; one that takes longer than two minutes fails the test.
    Outcome wait();

    std::string out() const { return streams_.read("out"); }

    std::string err() const { return streams_.read("err"); }

private:
    TemporaryFolder streams_;
    pid_t pid_ = -1;
    std::optional<int> status_;
};

Outcome run(const Command& command);

/// tessera of this build, in the folder `cwd`.
Command tessera_command(const std::string& cwd, std::vector<std::string> args);
Outcome run_tessera(const std::string& cwd, std::vector<std::string> args);

/// Asks again and again until `condition` holds; false after two minutes.
bool eventually(const std::function<bool()>& condition);

/// Fails the test, with what the program said, unless it ended with `code`.
void require_code(const Outcome& outcome, int code);

/// A campaign of one axis `x` whose cells are shell scripts: the value of x is $1. `more` is further TOML.
std::string shell_campaign(std::string_view name, std::string_view x_values, std::string_view script,
                           std::string_view more = "");

/// Rows of `tessera query DIR --format json` with further arguments.
nlohmann::json query(const std::string& cwd, const std::string& dir, std::vector<std::string> more = {});

/// The id of the first cell that `where` selects.
std::string cell_id(const std::string& cwd, const std::string& dir, const std::string& where);

} // namespace tessera::test
