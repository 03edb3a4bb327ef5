#include <tessera/base/error.hpp>
#include <tessera/worker/supervisor_client.hpp>

#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

extern char** environ;

namespace tessera {

namespace {

// One that cannot even start must not be started for ever.
constexpr int most_deaths_in_a_row = 3;

class SpawnActions {
public:
    SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }

    ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }

    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;

    void open_null(int fd) { ::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0); }

    /// dup2 of a descriptor onto itself would leave it close-on-exec in older C libraries, so `from` must
    /// differ.
    void duplicate(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }

    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

/// Above the number that the supervisor expects, so that no other descriptor is in its way.
UniqueFd lift(UniqueFd fd) {
    if (fd.get() > supervisor_socket_fd) return fd;
    UniqueFd lifted(::fcntl(fd.get(), F_DUPFD_CLOEXEC, supervisor_socket_fd + 1));
    if (!lifted) throw IoError("duplicate", "socketpair", errno);
    return lifted;
}

} // namespace

SupervisorClient::SupervisorClient(std::string program)
    : program_(std::move(program)) {
    start();
}

SupervisorClient::~SupervisorClient() {
    // The supervisor ends what still runs, and then itself; nobody waits for it.
    send(ShutdownRequest{});
    socket_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, WNOHANG);
}

void SupervisorClient::start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw IoError("make", "socketpair", errno);
    UniqueFd first(ends[0]);
    UniqueFd second(ends[1]);
    UniqueFd ours = lift(std::move(first));
    const UniqueFd theirs = lift(std::move(second));

    SpawnActions actions;
    for (int fd = 0; fd < 3; ++fd)
        actions.open_null(fd);
    actions.duplicate(theirs.get(), supervisor_socket_fd);
    char* const argv[] = {const_cast<char*>(program_.c_str()), nullptr};
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, program_.c_str(), actions.get(), nullptr, argv, environ);
    if (error != 0) throw IoError("start", program_, error);
    pid_ = pid;
    socket_ = std::move(ours);
    requests_ = {};
    reports_ = {};
}

void SupervisorClient::send(const SupervisorRequest& request) {
    if (!socket_) return;
    requests_.push(encode(request));
    // A failure shows again when poll() reads.
    requests_.flush(socket_.get());
}

std::optional<pollfd> SupervisorClient::poll_fd() const {
    if (!socket_) return std::nullopt;
    return pollfd{socket_.get(), static_cast<short>(requests_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
}

SupervisorClient::News SupervisorClient::poll() {
    News news;
    if (!socket_) return news;
    bool lives = reports_.fill(socket_.get());
    try {
        while (const std::optional<std::string> payload = reports_.next())
            news.reports.push_back(decode_report(*payload));
    } catch (const FormatError&) {
        lives = false;
    }
    if (!news.reports.empty()) deaths_in_a_row_ = 0;
    if (lives) lives = requests_.flush(socket_.get());
    if (lives) return news;

    news.death = bury();
    ++deaths_in_a_row_;
    if (deaths_in_a_row_ >= most_deaths_in_a_row) {
        start_problem_ = fmt::format("{} {} {} times in a row", program_, *news.death, deaths_in_a_row_);
        return news;
    }
    try {
        start();
    } catch (const IoError& error) {
        start_problem_ = error.what();
    }
    return news;
}

std::string SupervisorClient::bury() {
    socket_.reset();
    // Its end of the socket is closed, so it has ended or cannot be spoken to: then it must not go on.
    ::kill(pid_, SIGKILL);
    int status = 0;
    pid_t waited = -1;
    do {
        waited = ::waitpid(pid_, &status, 0);
    } while (waited < 0 && errno == EINTR);
    pid_ = -1;
    if (waited < 0) return "ended"; // someone else waited for it
    if (WIFSIGNALED(status))
        return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

} // namespace tessera
