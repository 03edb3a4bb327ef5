#pragma once

#include <tessera/protocol/in_process_transport.hpp>
#include <tessera/protocol/transport.hpp>

#include <vector>

namespace tessera {

/// The controller's endpoint when its own process is a worker too: the peers of `remote` and those of
/// `local`, whose numbers differ.
class CompositeTransport final : public Transport {
public:
    /// Both must outlive this.
    CompositeTransport(Transport& remote, InProcessTransport& local);

    PeerId self() const override { return remote_.self(); }

    std::vector<PeerId> peers() const override;
    void send(PeerId to, std::string bytes) override;
    std::optional<Incoming> receive() override;
    void wait(std::span<pollfd> fds, Duration timeout) override;
    std::vector<PeerId> lost_peers() override;
    void abandon(PeerId peer) override;
    bool close(Duration timeout) override;

private:
    Transport& owner_of(PeerId peer);

    Transport& remote_;
    InProcessTransport& local_;
    std::vector<PeerId> local_peers_;
    std::vector<pollfd> polled_;
    bool local_first_ = false; ///< takes turns, so that neither side can starve the other
};

} // namespace tessera
