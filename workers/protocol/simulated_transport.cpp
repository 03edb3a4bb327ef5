#include <tessera/protocol/simulated_transport.hpp>

#include <algorithm>
#include <utility>

namespace tessera {

class SimulatedNetwork::Endpoint final : public Transport {
public:
    Endpoint(SimulatedNetwork& network, PeerId self)
        : network_(network)
        , self_(self) {}

    PeerId self() const override { return self_; }

    std::vector<PeerId> peers() const override { return network_.peers_of(self_); }

    void send(PeerId to, std::string bytes) override {
        if (!closed_) network_.send(self_, to, std::move(bytes));
    }

    std::optional<Incoming> receive() override {
        if (closed_) return std::nullopt;
        return network_.receive(self_);
    }

    void wait(std::span<pollfd> /*fds*/, Duration timeout) override {
        network_.wakes_[self_] = network_.clock_.now() + std::max(timeout, Duration::zero());
    }

    std::vector<PeerId> lost_peers() override { return std::exchange(network_.news_of_loss_[self_], {}); }

    bool close(Duration /*timeout*/) override {
        closed_ = true;
        network_.wakes_.erase(self_);
        return true;
    }

private:
    SimulatedNetwork& network_;
    PeerId self_;
    bool closed_ = false;
};

SimulatedNetwork::SimulatedNetwork(VirtualClock& clock, std::uint64_t seed, SimulatedDelays delays)
    : clock_(clock)
    , random_(seed)
    , delays_(delays) {}

std::unique_ptr<Transport> SimulatedNetwork::endpoint(PeerId id) {
    ids_.insert(id);
    return std::make_unique<Endpoint>(*this, id);
}

void SimulatedNetwork::lose(PeerId peer, bool noticed) {
    lost_.insert(peer);
    wakes_.erase(peer);
    for (auto& [pair, line] : lines_) {
        if (pair.second == peer) line.clear();
        if (pair.first == peer) line.resize(random_() % (line.size() + 1));
    }
    if (!noticed) return;
    for (const PeerId other : peers_of(peer))
        news_of_loss_[other].push_back(peer);
}

bool SimulatedNetwork::advance() {
    std::optional<Moment> next;
    const auto consider = [&](Moment at) { next = next ? std::min(*next, at) : at; };
    for (const auto& [pair, line] : lines_) {
        // What is due already was offered; who does not take it must not stop the clock.
        const auto coming = std::find_if(line.begin(), line.end(),
                                         [&](const UnderWay& message) { return message.due > clock_.now(); });
        if (coming != line.end()) consider(coming->due);
    }
    for (const auto& [peer, at] : wakes_)
        consider(at);
    if (!next) return false;
    clock_.set(*next);
    std::erase_if(wakes_, [&](const auto& wake) { return wake.second <= clock_.now(); });
    return true;
}

void SimulatedNetwork::send(PeerId from, PeerId to, std::string bytes) {
    if (lost_.contains(from) || lost_.contains(to) || !ids_.contains(to)) return;
    auto& line = lines_[{from, to}];
    Moment due = clock_.now() + random_delay();
    if (!line.empty()) due = std::max(due, line.back().due);
    line.push_back({due, next_sequence_++, std::move(bytes)});
}

std::optional<Incoming> SimulatedNetwork::receive(PeerId at) {
    const Pair* first = nullptr;
    const UnderWay* best = nullptr;
    for (const auto& [pair, line] : lines_) {
        if (pair.second != at || line.empty() || line.front().due > clock_.now()) continue;
        const UnderWay& head = line.front();
        if (best != nullptr && std::pair(best->due, best->sequence) < std::pair(head.due, head.sequence))
            continue;
        first = &pair;
        best = &head;
    }
    if (best == nullptr) return std::nullopt;
    auto& line = lines_.at(*first);
    Incoming message{first->first, std::move(line.front().bytes)};
    line.pop_front();
    return message;
}

std::vector<PeerId> SimulatedNetwork::peers_of(PeerId id) const {
    if (id != 0) return {0};
    std::vector<PeerId> all(ids_.begin(), ids_.end());
    std::erase(all, id);
    return all;
}

Duration SimulatedNetwork::random_delay() {
    // Not std::uniform_int_distribution, whose numbers differ between standard libraries.
    const auto span = static_cast<std::uint64_t>((delays_.longest - delays_.shortest).count()) + 1;
    return std::max(delays_.shortest, Duration(1)) + Duration(static_cast<Duration::rep>(random_() % span));
}

} // namespace tessera
