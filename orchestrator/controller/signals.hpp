#pragma once

#include <tessera/base/fd.hpp>

#include <vector>

namespace tessera {

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
