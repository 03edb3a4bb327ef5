#pragma once

#include <tessera/protocol/transport.hpp>

#include <deque>
#include <memory>
#include <vector>

namespace tessera {

/// Messages between threads of one process. Make a star with in_process_star(); each endpoint goes to its own
/// thread and may outlive the others. An endpoint that is destroyed without close() counts as a lost peer.
class InProcessTransport final : public Transport {
public:
    ~InProcessTransport() override;
    InProcessTransport(const InProcessTransport&) = delete;
    InProcessTransport& operator=(const InProcessTransport&) = delete;

    PeerId self() const override { return self_; }

    std::vector<PeerId> peers() const override { return peers_; }

    void send(PeerId to, std::string bytes) override;
    std::optional<Incoming> receive() override;
    void wait(std::span<pollfd> fds, Duration timeout) override;
    std::vector<PeerId> lost_peers() override;
    bool close(Duration timeout) override;

    /// For a loop that waits on something else too: readable when something new has been sent here.
    int descriptor() const;

    /// True if receive() has a message at hand for which the descriptor is not readable any more.
    bool has_arrived() const { return !arrived_.empty(); }

private:
    class Star;
    friend std::vector<std::unique_ptr<InProcessTransport>> in_process_star(const std::vector<PeerId>& ids);
    InProcessTransport(std::shared_ptr<Star> star, PeerId self, std::vector<PeerId> peers);

    std::shared_ptr<Star> star_;
    PeerId self_;
    std::vector<PeerId> peers_;
    std::deque<Incoming>
        arrived_; ///< taken out of the shared inbox, so that most calls of receive() need no lock
    std::vector<pollfd> polled_;
    bool closed_ = false;
};

/// Endpoints in the order of `ids`. The first one is the hub: it talks to all others, and they to it alone.
std::vector<std::unique_ptr<InProcessTransport>> in_process_star(const std::vector<PeerId>& ids);

} // namespace tessera
