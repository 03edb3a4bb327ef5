#include <tessera/protocol/composite_transport.hpp>

#include <algorithm>
#include <utility>

namespace tessera {

CompositeTransport::CompositeTransport(Transport& remote, InProcessTransport& local)
    : remote_(remote)
    , local_(local)
    , local_peers_(local.peers()) {}

std::vector<PeerId> CompositeTransport::peers() const {
    std::vector<PeerId> all = remote_.peers();
    all.insert(all.end(), local_peers_.begin(), local_peers_.end());
    return all;
}

void CompositeTransport::send(PeerId to, std::string bytes) {
    owner_of(to).send(to, std::move(bytes));
}

std::optional<Incoming> CompositeTransport::receive() {
    local_first_ = !local_first_;
    Transport* order[] = {&remote_, &local_};
    if (local_first_) std::swap(order[0], order[1]);
    for (Transport* transport : order)
        if (auto message = transport->receive()) return message;
    return std::nullopt;
}

void CompositeTransport::wait(std::span<pollfd> fds, Duration timeout) {
    if (local_.has_arrived()) timeout = Duration::zero();
    polled_.assign(fds.begin(), fds.end());
    polled_.push_back({local_.descriptor(), POLLIN, 0});
    remote_.wait(polled_, timeout);
    std::copy_n(polled_.begin(), fds.size(), fds.begin());
}

std::vector<PeerId> CompositeTransport::lost_peers() {
    std::vector<PeerId> lost = remote_.lost_peers();
    for (const PeerId peer : local_.lost_peers())
        lost.push_back(peer);
    return lost;
}

void CompositeTransport::abandon(PeerId peer) {
    owner_of(peer).abandon(peer);
}

bool CompositeTransport::close(Duration timeout) {
    const bool local_left = local_.close(timeout);
    return remote_.close(timeout) && local_left;
}

Transport& CompositeTransport::owner_of(PeerId peer) {
    if (std::find(local_peers_.begin(), local_peers_.end(), peer) != local_peers_.end()) return local_;
    return remote_;
}

} // namespace tessera
