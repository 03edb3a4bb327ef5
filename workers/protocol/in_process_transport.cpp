#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/protocol/in_process_transport.hpp>
#include <tessera/protocol/poll.hpp>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <sys/eventfd.h>
#include <utility>

#include <unistd.h>

namespace tessera {

/// What the endpoints share: an inbox each.
class InProcessTransport::Star {
public:
    explicit Star(const std::vector<PeerId>& ids) {
        for (const PeerId id : ids) {
            Inbox& inbox = inboxes_[id];
            inbox.event = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
            if (!inbox.event) throw IoError("eventfd", "", errno);
        }
    }

    int descriptor(PeerId of) const { return inboxes_.at(of).event.get(); }

    void post(PeerId to, Incoming message) {
        const std::lock_guard lock(mutex_);
        const auto found = inboxes_.find(to);
        if (found == inboxes_.end() || !found->second.open) return;
        if (found->second.messages.empty()) wake(found->second);
        found->second.messages.push_back(std::move(message));
    }

    void take(PeerId of, std::deque<Incoming>& into) {
        const std::lock_guard lock(mutex_);
        Inbox& inbox = inboxes_.at(of);
        std::uint64_t count = 0;
        // Fails with EAGAIN if nothing was posted; that is as good.
        [[maybe_unused]] const ssize_t size = ::read(inbox.event.get(), &count, sizeof count);
        std::swap(inbox.messages, into);
    }

    std::vector<PeerId> take_lost(PeerId of) {
        const std::lock_guard lock(mutex_);
        return std::exchange(inboxes_.at(of).lost, {});
    }

    void leave(PeerId who, const std::vector<PeerId>& peers, bool in_order) {
        const std::lock_guard lock(mutex_);
        inboxes_.at(who).open = false;
        inboxes_.at(who).messages.clear();
        if (in_order) return;
        for (const PeerId peer : peers) {
            inboxes_.at(peer).lost.push_back(who);
            wake(inboxes_.at(peer));
        }
    }

private:
    struct Inbox {
        std::deque<Incoming> messages;
        std::vector<PeerId> lost;
        UniqueFd event;
        bool open = true;
    };

    static void wake(const Inbox& inbox) {
        const std::uint64_t one = 1;
        // Can only fail when the counter is full, and then the descriptor is readable already.
        [[maybe_unused]] const ssize_t size = ::write(inbox.event.get(), &one, sizeof one);
    }

    std::mutex mutex_;
    std::map<PeerId, Inbox> inboxes_;
};

InProcessTransport::InProcessTransport(std::shared_ptr<Star> star, PeerId self, std::vector<PeerId> peers)
    : star_(std::move(star))
    , self_(self)
    , peers_(std::move(peers)) {}

InProcessTransport::~InProcessTransport() {
    if (!closed_) star_->leave(self_, peers_, false);
}

void InProcessTransport::send(PeerId to, std::string bytes) {
    const bool known = std::find(peers_.begin(), peers_.end(), to) != peers_.end();
    if (known && !closed_) star_->post(to, {self_, std::move(bytes)});
}

std::optional<Incoming> InProcessTransport::receive() {
    if (closed_) return std::nullopt;
    if (arrived_.empty()) star_->take(self_, arrived_);
    if (arrived_.empty()) return std::nullopt;
    Incoming message = std::move(arrived_.front());
    arrived_.pop_front();
    return message;
}

void InProcessTransport::wait(std::span<pollfd> fds, Duration timeout) {
    if (!arrived_.empty()) timeout = Duration::zero();
    polled_.assign(fds.begin(), fds.end());
    polled_.push_back({descriptor(), POLLIN, 0});
    poll_for(polled_, timeout);
    std::copy_n(polled_.begin(), fds.size(), fds.begin());
}

std::vector<PeerId> InProcessTransport::lost_peers() {
    return star_->take_lost(self_);
}

bool InProcessTransport::close(Duration /*timeout*/) {
    if (!closed_) star_->leave(self_, peers_, true);
    closed_ = true;
    return true;
}

int InProcessTransport::descriptor() const {
    return star_->descriptor(self_);
}

std::vector<std::unique_ptr<InProcessTransport>> in_process_star(const std::vector<PeerId>& ids) {
    const auto star = std::make_shared<InProcessTransport::Star>(ids);
    std::vector<std::unique_ptr<InProcessTransport>> endpoints;
    for (const PeerId id : ids) {
        std::vector<PeerId> peers{ids.front()};
        if (id == ids.front()) peers.assign(ids.begin() + 1, ids.end());
        // The constructor is private, which make_unique cannot reach.
        endpoints.emplace_back(new InProcessTransport(star, id, std::move(peers)));
    }
    return endpoints;
}

} // namespace tessera
