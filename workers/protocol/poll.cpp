#include <tessera/base/error.hpp>
#include <tessera/protocol/poll.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace tessera {

bool poll_for(std::span<pollfd> fds, Duration timeout) {
    constexpr Duration second = std::chrono::seconds(1);
    timeout = std::max(timeout, Duration::zero());
    const timespec limit{static_cast<std::time_t>(timeout / second),
                         static_cast<long>((timeout % second).count())};
    const int ready = ::ppoll(fds.data(), fds.size(), &limit, nullptr);
    if (ready >= 0) return ready > 0;
    for (pollfd& entry : fds)
        entry.revents = 0;
    if (errno == EINTR) return true;
    throw IoError("ppoll", "", errno);
}

} // namespace tessera
