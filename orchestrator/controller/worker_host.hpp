#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/base/id.hpp>
#include <tessera/protocol/transport.hpp>
#include <tessera/worker/inventory.hpp>
#include <tessera/worker/supervisor_client.hpp>
#include <tessera/worker/worker_loop.hpp>

#include <string>

namespace tessera {

/// This process as a worker: what it tells of itself, and from its Welcome on the executors, the spool and
/// the loop.
class WorkerHost {
public:
    /// `supervisor` and `clock` must outlive this.
    WorkerHost(SupervisorClient& supervisor, const Clock& clock);

    const NodeReport& node() const { return inventory_.report; }

    /// From the Hello to the Goodbye. Throws HandshakeError if it may not take part.
    WorkerResult run(Transport& transport, const Id128& campaign_id, Duration handshake_timeout);

private:
    WorkerResult work(Transport& transport, const Welcome& welcome);
    Locality locality(const Welcome& welcome) const;

    SupervisorClient& supervisor_;
    const Clock& clock_;
    Environment environment_;
    Inventory inventory_;
};

/// The folder of the running program, where Tessera's other programs are.
std::string own_programs_folder();

} // namespace tessera
