#include <tessera/mpi/mpi_error.hpp>
#include <tessera/mpi/mpi_inbox.hpp>
#include <tessera/mpi/mpi_outbox.hpp>
#include <tessera/mpi/mpi_transport.hpp>
#include <tessera/protocol/poll.hpp>

#include <mpi.h>

#include <algorithm>
#include <utility>

namespace tessera {

namespace {

namespace tag {
enum : int {
    message = 1, ///< whole, or the last piece of one
    piece,       ///< more of the same message follows
    done,        ///< to rank 0: I have nothing left to say
    verdict,     ///< from rank 0: "1" if all are to call MPI_Finalize
};
}

constexpr PeerId controller = 0;

/// Looks for a message in a row before the first sleep.
constexpr int quick_looks = 16;

constexpr Duration shortest_nap = std::chrono::microseconds(50);

/// While closing: no message tells when the last send is complete.
constexpr Duration longest_close_nap = std::chrono::milliseconds(5);

/// No look ahead needs more; longer ones would overflow the clock.
constexpr Duration longest_wait = std::chrono::hours(24);

Moment now() {
    return SystemClock().now();
}

void check(const char* call, int code) {
    if (code != MPI_SUCCESS) throw MpiError(call, code);
}

} // namespace

MpiTransport::MpiTransport(MpiOptions options)
    : options_(options)
    , outbox_(std::make_unique<MpiOutbox>())
    , inbox_(std::make_unique<MpiInbox>(tag::piece)) {
    int provided = MPI_THREAD_SINGLE;
    check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
    if (provided < MPI_THREAD_FUNNELED) throw Error("this MPI does not allow a process to have threads");
    check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int rank = 0;
    int size = 0;
    check("MPI_Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    check("MPI_Comm_size", MPI_Comm_size(MPI_COMM_WORLD, &size));
    self_ = static_cast<PeerId>(rank);
    world_size_ = static_cast<std::uint32_t>(size);
    last_traffic_ = now();
}

MpiTransport::~MpiTransport() = default;

std::uint32_t MpiTransport::world_size() const {
    return world_size_;
}

PeerId MpiTransport::self() const {
    return self_;
}

std::vector<PeerId> MpiTransport::peers() const {
    if (self_ != controller) return {controller};
    std::vector<PeerId> workers;
    for (PeerId rank = 1; rank < world_size_; ++rank)
        workers.push_back(rank);
    return workers;
}

void MpiTransport::send(PeerId to, std::string bytes) {
    if (closed_ || to >= world_size_ || to == self_) return;
    put(to, tag::message, std::move(bytes));
}

void MpiTransport::put(PeerId to, int tag, std::string bytes) {
    if (gone_.contains(to)) return;
    const auto shared = std::make_shared<const std::string>(std::move(bytes));
    std::size_t offset = 0;
    for (; shared->size() - offset > options_.piece_bytes; offset += options_.piece_bytes)
        outbox_->post(to, tag::piece, shared, offset, options_.piece_bytes);
    outbox_->post(to, tag, shared, offset, shared->size() - offset);
    last_traffic_ = now();
}

std::optional<Incoming> MpiTransport::receive() {
    if (closed_) return std::nullopt;
    for (;;) {
        auto message = inbox_->next();
        if (!message && inbox_->look()) message = inbox_->next();
        if (!message) {
            outbox_->progress();
            return std::nullopt;
        }
        last_traffic_ = now();
        if (message->tag == tag::message) return Incoming{message->from, std::move(message->bytes)};
        note_control(message->from, message->tag, message->bytes);
    }
}

void MpiTransport::note_control(PeerId from, int tag, const std::string& bytes) {
    if (tag == tag::done) done_.insert(from);
    if (tag == tag::verdict) verdict_ = bytes == "1";
}

void MpiTransport::wait(std::span<pollfd> fds, Duration timeout) {
    const Moment deadline = now() + std::clamp(timeout, Duration::zero(), longest_wait);
    for (int looks = 1;; ++looks) {
        if (inbox_->look()) timeout = Duration::zero();
        outbox_->progress();
        const Moment current = now();
        const Duration left = timeout == Duration::zero() ? timeout : deadline - current;
        if (left > Duration::zero() && looks < quick_looks) continue;
        if (poll_for(fds, std::min(left, nap(current))) || left <= Duration::zero()) return;
    }
}

/// One eighth of the silence so far: what a message waits is small beside what its sender did meanwhile, and
/// who is idle for long sleeps long.
Duration MpiTransport::nap(Moment current) const {
    return std::clamp((current - last_traffic_) / 8, shortest_nap,
                      std::max(options_.longest_nap, shortest_nap));
}

std::vector<PeerId> MpiTransport::lost_peers() {
    for (const PeerId peer : outbox_->take_failed())
        if (gone_.insert(peer).second) losses_.push_back(peer);
    return std::exchange(losses_, {});
}

void MpiTransport::abandon(PeerId peer) {
    gone_.insert(peer);
}

bool MpiTransport::close(Duration timeout) {
    if (closed_) return false;
    const Moment deadline = now() + std::clamp(timeout, Duration::zero(), longest_wait);
    const bool in_order = self_ == controller ? close_controller(deadline) : close_worker(deadline);
    closed_ = true;
    return in_order;
}

bool MpiTransport::close_controller(Moment deadline) {
    const auto all_done = [&] {
        const std::vector<PeerId> workers = peers();
        return std::all_of(workers.begin(), workers.end(),
                           [&](PeerId worker) { return done_.contains(worker) || gone_.contains(worker); });
    };
    const bool in_order = serve_until(deadline, all_done) && gone_.empty();
    for (const PeerId worker : peers())
        put(worker, tag::verdict, in_order ? "1" : "0");
    return serve_until(deadline, [] { return true; }) && in_order;
}

bool MpiTransport::close_worker(Moment deadline) {
    put(controller, tag::done, "");
    return serve_until(deadline, [&] { return verdict_.has_value(); }) && *verdict_ && gone_.empty();
}

/// Until all has been sent that can be and `done` says so; false if the deadline came first. Other messages
/// are dropped.
template <class Done>
bool MpiTransport::serve_until(Moment deadline, const Done& done) {
    for (;;) {
        while (receive()) {
        }
        static_cast<void>(lost_peers());
        if (outbox_->is_empty(gone_) && done()) return true;
        const Moment current = now();
        if (current >= deadline) return false;
        wait({}, std::min(deadline - current, longest_close_nap));
    }
}

void MpiTransport::finalize() {
    check("MPI_Finalize", MPI_Finalize());
}

} // namespace tessera
