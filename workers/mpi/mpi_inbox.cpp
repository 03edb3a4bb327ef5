#include <tessera/mpi/mpi_error.hpp>
#include <tessera/mpi/mpi_inbox.hpp>

#include <algorithm>
#include <utility>

namespace tessera {

namespace {

void check(const char* call, int code) {
    if (code != MPI_SUCCESS) throw MpiError(call, code);
}

} // namespace

bool MpiInbox::look() {
    int found = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    check("MPI_Improbe", MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &handle, &status));
    if (found == 0) return first_deliverable() != receiving_.end();

    int size = 0;
    check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &size));
    Receiving& entry = receiving_.emplace_back();
    entry.message = {static_cast<PeerId>(status.MPI_SOURCE), status.MPI_TAG,
                     std::string(static_cast<std::size_t>(size), '\0')};
    check("MPI_Imrecv", MPI_Imrecv(entry.message.bytes.data(), size, MPI_BYTE, &handle, &entry.request));
    return true;
}

std::optional<MpiMessage> MpiInbox::next() {
    for (auto it = first_deliverable(); it != receiving_.end(); it = first_deliverable())
        if (auto message = take(it)) return message;
    return std::nullopt;
}

MpiInbox::Position MpiInbox::first_deliverable() {
    for (auto it = receiving_.begin(); it != receiving_.end(); ++it)
        if (complete(*it) && is_first_of_its_peer(it)) return it;
    return receiving_.end();
}

bool MpiInbox::complete(Receiving& entry) {
    if (entry.request == MPI_REQUEST_NULL) return true;
    int done = 0;
    check("MPI_Test", MPI_Test(&entry.request, &done, MPI_STATUS_IGNORE));
    return done != 0;
}

bool MpiInbox::is_first_of_its_peer(Position position) {
    return std::none_of(receiving_.begin(), position, [&](const Receiving& earlier) {
        return earlier.message.from == position->message.from;
    });
}

std::optional<MpiMessage> MpiInbox::take(Position position) {
    MpiMessage message = std::move(position->message);
    receiving_.erase(position);
    if (message.tag == piece_tag_) {
        pieces_[message.from] += message.bytes;
        return std::nullopt;
    }
    if (const auto begun = pieces_.find(message.from); begun != pieces_.end()) {
        message.bytes.insert(0, begun->second);
        pieces_.erase(begun);
    }
    return message;
}

} // namespace tessera
