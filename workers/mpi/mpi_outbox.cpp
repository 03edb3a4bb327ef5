#include <tessera/mpi/mpi_error.hpp>
#include <tessera/mpi/mpi_outbox.hpp>

#include <algorithm>
#include <utility>

namespace tessera {

void MpiOutbox::post(PeerId to, int tag, const std::shared_ptr<const std::string>& bytes, std::size_t offset,
                     std::size_t length) {
    const std::size_t slot = free_slot();
    sending_[slot] = {to, bytes};
    const int failed = MPI_Isend(bytes->data() + offset, static_cast<int>(length), MPI_BYTE,
                                 static_cast<int>(to), tag, MPI_COMM_WORLD, &requests_[slot]);
    if (failed == MPI_SUCCESS) return;
    failed_.push_back(to);
    release(slot);
}

void MpiOutbox::progress() {
    if (free_.size() == requests_.size()) return;
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int count = 0;
    const int failed = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                    indices_.data(), statuses_.data());
    if (failed != MPI_SUCCESS && failed != MPI_ERR_IN_STATUS) throw MpiError("MPI_Testsome", failed);
    if (count == MPI_UNDEFINED) return;
    for (int i = 0; i < count; ++i) {
        const auto slot = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
        // MPI sets the single errors only when the call says so.
        if (failed == MPI_ERR_IN_STATUS && statuses_[static_cast<std::size_t>(i)].MPI_ERROR != MPI_SUCCESS)
            failed_.push_back(sending_[slot].to);
        release(slot);
    }
}

bool MpiOutbox::is_empty(const std::set<PeerId>& ignored) const {
    return std::all_of(sending_.begin(), sending_.end(), [&](const Sending& entry) {
        return entry.bytes == nullptr || ignored.contains(entry.to);
    });
}

std::vector<PeerId> MpiOutbox::take_failed() {
    return std::exchange(failed_, {});
}

std::size_t MpiOutbox::free_slot() {
    if (free_.empty()) {
        free_.push_back(requests_.size());
        requests_.push_back(MPI_REQUEST_NULL);
        sending_.emplace_back();
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
}

void MpiOutbox::release(std::size_t slot) {
    requests_[slot] = MPI_REQUEST_NULL;
    sending_[slot].bytes.reset();
    free_.push_back(slot);
}

} // namespace tessera
