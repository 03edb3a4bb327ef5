#include <tessera/base/text.hpp>
#include <tessera/worker/executor_set.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace tessera {

void ExecutorSet::add(std::string name, std::unique_ptr<Executor> executor) {
    executors_.insert_or_assign(std::move(name), std::move(executor));
}

void ExecutorSet::start(const WorkItem& item, const Placement& placement) {
    const auto found = executors_.find(item.spec.executor);
    if (found != executors_.end()) {
        found->second->start(item, placement);
        return;
    }
    std::vector<std::string> names;
    for (const auto& [name, executor] : executors_)
        names.push_back(name);
    EndedEvent ended = ended_event(worker_, item);
    ended.outcome.kind = OutcomeKind::failed;
    ended.outcome.failure = FailureClass::verdict;
    ended.outcome.message =
        fmt::format("worker {} on {} has no executor '{}'{}; it has: {}", worker_.worker, worker_.host,
                    item.spec.executor, did_you_mean(item.spec.executor, names), fmt::join(names, ", "));
    refused_.emplace_back(std::move(ended));
}

void ExecutorSet::stop(std::uint64_t ticket, StopReason reason) {
    // Tickets are unique, and a stop of an unknown one has no effect: no need to remember whose it is.
    for (const auto& [name, executor] : executors_)
        executor->stop(ticket, reason);
}

std::vector<pollfd> ExecutorSet::poll_fds() const {
    std::vector<pollfd> all;
    for (const auto& [name, executor] : executors_) {
        const std::vector<pollfd> some = executor->poll_fds();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::optional<Moment> ExecutorSet::next_deadline() const {
    if (!refused_.empty()) return Moment{};
    std::optional<Moment> first;
    for (const auto& [name, executor] : executors_) {
        const std::optional<Moment> deadline = executor->next_deadline();
        if (deadline && (!first || *deadline < *first)) first = deadline;
    }
    return first;
}

std::vector<Executor::Event> ExecutorSet::poll() {
    std::vector<Event> all = std::exchange(refused_, {});
    for (const auto& [name, executor] : executors_) {
        std::vector<Event> some = executor->poll();
        if (all.empty())
            all = std::move(some);
        else
            all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    return all;
}

} // namespace tessera
