#pragma once

#include <tessera/base/fd.hpp>

#include <vector>

namespace tessera {

/// The signals that ask a run to stop: SIGINT, SIGTERM, SIGUSR1, and SIGHUP unless it is ignored (nohup).
/// Ignores SIGPIPE: a reader of the progress that goes away must not end the run.
std::vector<int> stop_signals();

/// Takes signals as readable events instead of having them interrupt or end the process. Make it before any
/// thread starts, since threads inherit the mask.
class SignalWatcher {
public:
    explicit SignalWatcher(const std::vector<int>& signals);

    int fd() const { return fd_.get(); }

    /// Signals that arrived since the last call, in order. Never blocks.
    std::vector<int> take();

private:
    UniqueFd fd_;
};

} // namespace tessera
