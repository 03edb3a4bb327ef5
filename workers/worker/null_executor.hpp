#pragma once

#include <tessera/worker/executor.hpp>
#include <tessera/worker/worker_identity.hpp>

#include <utility>
#include <vector>

namespace tessera {

/// Runs nothing: every attempt succeeds at once. For benches of everything but the work.
class NullExecutor final : public Executor {
public:
    explicit NullExecutor(WorkerIdentity worker)
        : worker_(std::move(worker)) {}

    void start(const WorkItem& item, const Placement& placement) override;

    void stop(std::uint64_t, StopReason) override {}

    std::vector<pollfd> poll_fds() const override { return {}; }

    std::optional<Moment> next_deadline() const override;

    std::vector<Event> poll() override { return std::exchange(events_, {}); }

private:
    WorkerIdentity worker_;
    std::vector<Event> events_;
};

} // namespace tessera
