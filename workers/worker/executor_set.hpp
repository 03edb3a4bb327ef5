#pragma once

#include <tessera/worker/executor.hpp>
#include <tessera/worker/worker_identity.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Gives each attempt to the executor that its step names.
class ExecutorSet final : public Executor {
public:
    /// `worker` goes into the outcomes of attempts whose executor is unknown.
    explicit ExecutorSet(WorkerIdentity worker)
        : worker_(std::move(worker)) {}

    void add(std::string name, std::unique_ptr<Executor> executor);

    void start(const WorkItem& item, const Placement& placement) override;
    void stop(std::uint64_t ticket, StopReason reason) override;
    std::vector<pollfd> poll_fds() const override;
    std::optional<Moment> next_deadline() const override;
    std::vector<Event> poll() override;

private:
    WorkerIdentity worker_;
    std::map<std::string, std::unique_ptr<Executor>, std::less<>> executors_;
    std::vector<Event> refused_;
};

} // namespace tessera
