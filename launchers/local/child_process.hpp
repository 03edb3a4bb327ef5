#pragma once

#include <tessera/base/fd.hpp>
#include <tessera/campaign/step_spec.hpp>

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tessera {

/// A command in a process group of its own, so that the terminal's Ctrl-C does not reach it: stdin from
/// /dev/null, stdout into a pipe, stderr shared. If it still runs when this object goes, its group is killed
/// and it is waited for.
class ChildProcess {
public:
    /// `env` is added to this process' environment. Throws IoError naming argv[0].
    ChildProcess(const std::vector<std::string>& argv, const std::vector<EnvEntry>& env);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    int stdout_fd() const { return stdout_.get(); }

    /// To the whole process group; no effect once it has been waited for.
    void signal(int number) const;

    /// Waits for its end; the exit code, or 128 plus the signal.
    int wait();

private:
    pid_t pid_ = -1;
    UniqueFd stdout_;
};

} // namespace tessera
