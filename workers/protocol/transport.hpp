#pragma once

#include <tessera/base/clock.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

namespace tessera {

/// A place in the job: 0 is the controller, workers are 1, 2, ... . When the controller's process is a worker
/// too, its worker has a number of its own.
using PeerId = std::uint32_t;

struct Incoming {
    PeerId from = 0;
    std::string bytes;
};

/// Moves whole messages between the controller and its workers; order is kept between any two peers. One
/// thread uses an endpoint. A peer's death is not an error here: messages to it vanish and lost_peers() names
/// it if the transport can tell; the protocol's heartbeats catch the rest.
class Transport {
public:
    virtual ~Transport() = default;

    virtual PeerId self() const = 0;

    /// All other peers that this endpoint may talk to.
    virtual std::vector<PeerId> peers() const = 0;

    /// Never blocks; what cannot leave yet is queued.
    virtual void send(PeerId to, std::string bytes) = 0;

    /// The next message that has arrived, if any. Never blocks.
    virtual std::optional<Incoming> receive() = 0;

    /// Sleeps until a message may be there, one of `fds` is ready (revents are set), or `timeout` is over.
    /// May return early.
    virtual void wait(std::span<pollfd> fds, Duration timeout) = 0;

    /// Peers found dead since the last call.
    virtual std::vector<PeerId> lost_peers() { return {}; }

    /// The protocol has given this peer up: nothing waits for it any more, close() least of all.
    virtual void abandon(PeerId /*peer*/) {}

    /// Tries to get everything sent out before `timeout`; true if all of it left. Nothing is sent or received
    /// afterwards.
    virtual bool close(Duration timeout) = 0;
};

} // namespace tessera
