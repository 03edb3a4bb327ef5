#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/supervisor/supervisor.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr int highest_oom_score_adj = 1000;
constexpr int added_oom_score_adj = 500;

/// The rank may have descriptors that are not close-on-exec; cells would hold them open. Newer kernels do it
/// in one call.
void close_inherited_descriptors() {
    constexpr unsigned first = supervisor_socket_fd + 1;
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
#endif
    std::vector<int> open;
    {
        const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
        while (const dirent* item = folder ? ::readdir(folder.get()) : nullptr) {
            const std::string_view name = item->d_name;
            int fd = -1;
            const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), fd);
            if (error == std::errc{} && fd >= static_cast<int>(first)) open.push_back(fd);
        }
    }
    for (const int fd : open)
        ::close(fd);
}

/// The rank decides when cells stop; signals of a terminal or of a batch system reach it too.
void set_signals() {
    struct sigaction action {};

    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal)
        ::sigaction(signal, &action, nullptr);
    action.sa_handler = SIG_IGN;
    constexpr std::array ignored = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTERM, SIGTSTP,
                                    SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGALRM, SIGXFSZ};
    for (const int signal : ignored)
        ::sigaction(signal, &action, nullptr);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGCHLD);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

/// Four descriptors an attempt soon reach a usual limit of 1,024. Returns the limit as found, which cells
/// get.
rlimit raise_open_files() {
    rlimit found{};
    ::getrlimit(RLIMIT_NOFILE, &found);
    rlimit raised = found;
    raised.rlim_cur = raised.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &raised);
    return found;
}

int cell_oom_score_adj() {
    int own = 0;
    try {
        own = std::atoi(read_file("/proc/self/oom_score_adj").c_str());
    } catch (const IoError&) {
        own = 0;
    }
    return std::min(highest_oom_score_adj, own + added_oom_score_adj);
}

bool is_socket(int fd) {
    int type = 0;
    socklen_t length = sizeof type;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

int run() {
    if (!is_socket(supervisor_socket_fd)) {
        std::fputs("tessera-supervisor is started by Tessera's ranks; it does nothing on its own\n", stderr);
        return 2;
    }
    close_inherited_descriptors();
    ::fcntl(supervisor_socket_fd, F_SETFD, FD_CLOEXEC);
    ::setsid();
    set_signals();
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) throw IoError("become a subreaper", "prctl", errno);
    const UniqueFd null = open_file("/dev/null", O_RDWR);
    CellDefaults defaults;
    defaults.open_files = raise_open_files();
    defaults.oom_score_adj = cell_oom_score_adj();
    defaults.null_fd = null.get();
    Supervisor(UniqueFd(supervisor_socket_fd), defaults).run();
    return 0;
}

} // namespace

} // namespace tessera

int main() {
    try {
        return tessera::run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tessera-supervisor: %s\n", error.what());
        return 1;
    }
}
