#include <tessera/base/error.hpp>
#include <tessera/controller/signals.hpp>

#include <cerrno>
#include <csignal>
#include <sys/signalfd.h>

#include <unistd.h>

namespace tessera {

std::vector<int> stop_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::vector<int> signals = {SIGINT, SIGTERM, SIGUSR1};

    struct sigaction hang_up {};

    ::sigaction(SIGHUP, nullptr, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) signals.push_back(SIGHUP);
    return signals;
}

SignalWatcher::SignalWatcher(const std::vector<int>& signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals)
        sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) throw IoError("watch signals", "signalfd", errno);
}

std::vector<int> SignalWatcher::take() {
    std::vector<int> signals;
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        signals.push_back(static_cast<int>(info.ssi_signo));
    return signals;
}

} // namespace tessera
