#include <tessera/worker/null_executor.hpp>

namespace tessera {

void NullExecutor::start(const WorkItem& item, const Placement& placement) {
    EndedEvent ended = ended_event(worker_, item);
    ended.outcome.exit_code = 0;
    ended.outcome.devices = placement.devices;
    ended.outcome.cpus = placement.cpus;
    events_.emplace_back(std::move(ended));
}

std::optional<Moment> NullExecutor::next_deadline() const {
    if (events_.empty()) return std::nullopt;
    return Moment{};
}

} // namespace tessera
