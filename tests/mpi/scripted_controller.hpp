#pragma once

#include <tessera/protocol/codec.hpp>
#include <tessera/protocol/handshake.hpp>
#include <tessera/protocol/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace tessera::test {

inline const HandshakeTerms terms{
    .version = protocol_version, .build = "test", .campaign_id = {}, .host = "rank 0"};

/// A controller without scheduler and journal: keeps every worker supplied and checks that each item ends
/// exactly once.
class ScriptedController {
public:
    ScriptedController(Transport& transport, std::size_t window);

    /// Takes the Hellos and sends the Welcomes. Throws HandshakeError.
    void gather(double heartbeat_s = 1);

    /// Until all items but those at `doomed` workers have ended. Throws Error if an item ends twice or fails.
    void run_items(std::uint64_t count, const std::set<PeerId>& doomed = {});

    /// Gives the items of a dead worker to the others and runs them.
    void reassign(PeerId dead);

    /// Only heartbeats, for so long.
    void idle(Duration duration);

    /// Stop and the Goodbyes.
    void stop();

private:
    struct Worker {
        MessageEncoder encoder;
        MessageDecoder decoder;
        std::map<std::uint64_t, WorkItem> assigned;
        bool gone = false;
    };

    void supply(PeerId peer);
    void serve(Duration longest_wait);
    void take(PeerId peer, const Report& report);
    void send(PeerId peer, const Message& message);
    void beat();
    bool all_ended(const std::set<PeerId>& doomed) const;
    WorkItem next_item();

    Transport& transport_;
    std::size_t window_;
    SystemClock clock_;
    Moment last_beat_;
    double heartbeat_s_ = 1;
    std::map<PeerId, Worker> workers_;
    std::vector<WorkItem> returned_;
    std::uint64_t last_ticket_ = 0;
    std::uint64_t count_ = 0;
};

} // namespace tessera::test
