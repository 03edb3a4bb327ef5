#pragma once

#include <tessera/base/fd.hpp>
#include <tessera/supervisor/supervisor_protocol.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <poll.h>

namespace tessera {

/// The rank's side of tessera-supervisor. Make it before MPI_Init: the supervisor is started by posix_spawn,
/// holds none of the rank's streams, and ends all cells when this object or the rank is gone. A supervisor
/// that dies is started again.
class SupervisorClient {
public:
    /// `program` is the path of tessera-supervisor. Throws IoError if it cannot be started.
    explicit SupervisorClient(std::string program);
    ~SupervisorClient();
    SupervisorClient(const SupervisorClient&) = delete;
    SupervisorClient& operator=(const SupervisorClient&) = delete;

    void send(const SupervisorRequest& request);

    /// To wait on; empty while there is no supervisor.
    std::optional<pollfd> poll_fd() const;

    struct News {
        std::vector<SupervisorReport> reports;
        /// The supervisor died after these reports; what it ran is lost. Says how it died.
        std::optional<std::string> death;
    };

    /// What has come since. After a death the next supervisor already runs, unless alive() is false.
    News poll();

    bool alive() const { return static_cast<bool>(socket_); }

    /// Why there is no supervisor.
    const std::string& start_problem() const { return start_problem_; }

    pid_t pid() const { return pid_; }

private:
    void start();
    std::string bury();

    std::string program_;
    UniqueFd socket_;
    pid_t pid_ = -1;
    FrameWriter requests_;
    FrameReader reports_;
    std::string start_problem_;
    int deaths_in_a_row_ = 0; ///< without a report between them
};

} // namespace tessera
