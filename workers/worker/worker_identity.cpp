#include <tessera/base/clock.hpp>
#include <tessera/worker/worker_identity.hpp>

namespace tessera {

EndedEvent ended_event(const WorkerIdentity& worker, const WorkItem& item) {
    EndedEvent ended;
    ended.ticket = item.ticket;
    ended.outcome.attempt = {worker.part, item.step, item.number};
    ended.outcome.generation = item.generation;
    ended.outcome.claim = item.claim;
    ended.outcome.worker = worker.worker;
    ended.outcome.host = worker.host;
    ended.outcome.started_ns = SystemClock().wall_ns();
    ended.outcome.ended_ns = ended.outcome.started_ns;
    return ended;
}

} // namespace tessera
