#pragma once

#include <tessera/protocol/transport.hpp>

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tessera {

/// Messages on their way out. Every send is nonblocking: one to a dead rank may never complete.
class MpiOutbox {
public:
    /// `bytes` must not change any more; part of it from `offset` on is sent.
    void post(PeerId to, int tag, const std::shared_ptr<const std::string>& bytes, std::size_t offset,
              std::size_t length);

    /// Finds out what has left. Throws MpiError.
    void progress();

    /// True if all has left but for what goes to one of `ignored`.
    bool is_empty(const std::set<PeerId>& ignored) const;

    /// Peers to whom sending failed, since the last call.
    std::vector<PeerId> take_failed();

private:
    struct Sending {
        PeerId to = 0;
        std::shared_ptr<const std::string> bytes; ///< null: the slot is free
    };

    std::size_t free_slot();
    void release(std::size_t slot);

    std::vector<MPI_Request> requests_; ///< side by side with sending_, as MPI_Testsome wants them
    std::vector<Sending> sending_;
    std::vector<std::size_t> free_;
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    std::vector<PeerId> failed_;
};

} // namespace tessera
