#pragma once

#include <tessera/protocol/transport.hpp>

#include <mpi.h>

#include <list>
#include <map>
#include <optional>
#include <string>

namespace tessera {

struct MpiMessage {
    PeerId from = 0;
    int tag = 0;
    std::string bytes;
};

/// Messages on their way in. Receives are nonblocking too: the sender of a long message may die in the middle
/// of it.
class MpiInbox {
public:
    /// Messages with `piece_tag` are the beginnings of the next message of their sender with another tag.
    explicit MpiInbox(int piece_tag)
        : piece_tag_(piece_tag) {}

    /// Takes up one more message if one has arrived; true if next() may have something. Throws MpiError.
    bool look();

    /// The next whole message, of those taken up. Each peer's come in order. Throws MpiError.
    std::optional<MpiMessage> next();

private:
    struct Receiving {
        MpiMessage message; ///< its bytes are written by MPI: must not move
        MPI_Request request = MPI_REQUEST_NULL;
    };

    using Position = std::list<Receiving>::iterator;

    Position first_deliverable();
    static bool complete(Receiving& entry);
    bool is_first_of_its_peer(Position position);
    std::optional<MpiMessage> take(Position position);

    int piece_tag_;
    std::list<Receiving> receiving_; ///< in the order in which they were found
    std::map<PeerId, std::string> pieces_;
};

} // namespace tessera
