#pragma once

#include <tessera/protocol/transport.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace tessera {

/// A clock that only moves when it is told to.
class VirtualClock final : public Clock {
public:
    Moment now() const override { return now_; }

    WallTime wall_ns() const override { return now_.time_since_epoch().count(); }

    /// Never goes back.
    void set(Moment to) { now_ = std::max(now_, to); }

    void advance(Duration by) { now_ += by; }

private:
    Moment now_{std::chrono::seconds(1)};
};

struct SimulatedDelays {
    Duration shortest = std::chrono::microseconds(1);
    Duration longest = std::chrono::milliseconds(1);
};

/// A network in one thread, driven by a virtual clock: messages take seeded delays, overtake those between
/// other peers but never those of their own pair, and peers can be lost. The same seed and the same calls
/// give the same run.
///
/// A driver lets every party do what it can (each ends in wait(), which only notes when it wants to be woken)
/// and then calls advance().
class SimulatedNetwork {
public:
    SimulatedNetwork(VirtualClock& clock, std::uint64_t seed, SimulatedDelays delays = {});

    /// The endpoint must not outlive the network. Peer 0 talks to all, the others to it alone.
    std::unique_ptr<Transport> endpoint(PeerId id);

    /// Kills a peer: of its messages under way a random part is lost, what is sent to it vanishes. With
    /// `noticed` the others learn of it by lost_peers(), else only by its silence.
    void lose(PeerId peer, bool noticed);

    /// Moves the clock to the next delivery or the next wish to be woken; false if there is neither.
    bool advance();

private:
    class Endpoint;

    struct UnderWay {
        Moment due;
        std::uint64_t sequence;
        std::string bytes;
    };

    using Pair = std::pair<PeerId, PeerId>; ///< from, to

    void send(PeerId from, PeerId to, std::string bytes);
    std::optional<Incoming> receive(PeerId at);
    std::vector<PeerId> peers_of(PeerId id) const;
    Duration random_delay();

    VirtualClock& clock_;
    std::mt19937_64 random_;
    SimulatedDelays delays_;
    std::uint64_t next_sequence_ = 0;
    std::set<PeerId> ids_;
    std::set<PeerId> lost_;
    std::map<Pair, std::deque<UnderWay>> lines_;
    std::map<PeerId, Moment> wakes_;
    std::map<PeerId, std::vector<PeerId>> news_of_loss_;
};

} // namespace tessera
