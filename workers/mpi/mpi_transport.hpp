#pragma once

#include <tessera/protocol/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tessera {

class MpiInbox;
class MpiOutbox;

struct MpiOptions {
    /// A longer message travels in pieces of this size: counts of MPI end at 2^31 - 1.
    std::size_t piece_bytes = std::size_t{256} << 20U;

    /// The longest sleep between two looks for a message. It is reached after eight times as long without
    /// any.
    Duration longest_nap = std::chrono::milliseconds(20);
};

/// The ranks of MPI_COMM_WORLD: rank 0 is the controller, the others talk to it alone. Makes no collective
/// call after MPI_Init and waits for no single peer, so that a dead rank stops nobody.
///
/// One object a process. The thread that makes it makes all calls (MPI_THREAD_FUNNELED). The end of a program
/// is
///
///     if (transport.close(timeout)) transport.finalize(); else std::_Exit(code);
///
/// because MPI_Finalize never returns when a rank is lost.
class MpiTransport final : public Transport {
public:
    /// Starts MPI, after everything that must happen before (a helper process forked, say). Throws MpiError.
    explicit MpiTransport(MpiOptions options = {});

    /// Does not finalize: a program that ends by an exception must not hang in it.
    ~MpiTransport() override;
    MpiTransport(const MpiTransport&) = delete;
    MpiTransport& operator=(const MpiTransport&) = delete;

    /// Ranks in the job, this one included.
    std::uint32_t world_size() const;

    PeerId self() const override;
    std::vector<PeerId> peers() const override;
    void send(PeerId to, std::string bytes) override;
    std::optional<Incoming> receive() override;
    void wait(std::span<pollfd> fds, Duration timeout) override;
    std::vector<PeerId> lost_peers() override;
    void abandon(PeerId peer) override;

    /// Sends what is left and agrees with the others, through rank 0, that all are here and done. False if
    /// that did not come about in time or a peer was lost or abandoned: then finalize() must not be called.
    /// Rank 0 should wait less long than the others, who depend on its word.
    bool close(Duration timeout) override;

    /// MPI_Finalize, after a close() that returned true. Throws MpiError.
    void finalize();

private:
    void put(PeerId to, int tag, std::string bytes);
    void note_control(PeerId from, int tag, const std::string& bytes);
    bool close_controller(Moment deadline);
    bool close_worker(Moment deadline);
    template <class Done>
    bool serve_until(Moment deadline, const Done& done);
    Duration nap(Moment now) const;

    MpiOptions options_;
    PeerId self_ = 0;
    std::uint32_t world_size_ = 1;
    std::unique_ptr<MpiOutbox> outbox_;
    std::unique_ptr<MpiInbox> inbox_;
    Moment last_traffic_;
    std::set<PeerId> gone_;       ///< lost or abandoned
    std::vector<PeerId> losses_;  ///< not yet told
    std::set<PeerId> done_;       ///< at rank 0: those that have said they are done
    std::optional<bool> verdict_; ///< at the others: whether all are to finalize
    bool closed_ = false;
};

} // namespace tessera
