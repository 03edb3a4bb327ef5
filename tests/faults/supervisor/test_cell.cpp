// A cell that misbehaves as its arguments say: the tests' workload.

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace {

[[noreturn]] void wait_for_ever() {
    for (;;)
        ::pause();
}

void touch(const char* path) {
    ::close(::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/// Leaves a process that is nobody's child, in a session of its own, without our streams and deaf to SIGTERM.
/// Returns once it is there.
void daemonise(const char* self, const char* mark, bool clean_environment) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    const pid_t child = ::fork();
    if (child == 0) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);
        ::setsid();
        ::signal(SIGTERM, SIG_IGN);
        for (int fd = 0; fd < 3; ++fd)
            ::close(fd);
        std::array<char*, 4> argv = {const_cast<char*>(self), const_cast<char*>("linger"),
                                     const_cast<char*>(mark), nullptr};
        std::array<char*, 1> nothing = {nullptr};
        ::fcntl(ready[1], F_SETFD, FD_CLOEXEC); // its end tells that the new program runs
        ::execve(self, argv.data(), clean_environment ? nothing.data() : environ);
        ::_exit(1);
    }
    ::close(ready[1]);
    char byte = 0;
    while (::read(ready[0], &byte, 1) > 0) {
    }
    ::close(ready[0]);
}

void flood(unsigned long bytes) {
    std::array<char, 65536> block{};
    for (std::size_t i = 0; i < block.size(); ++i)
        block[i] = static_cast<char>(i);
    while (bytes > 0) {
        const auto wanted = bytes < block.size() ? bytes : block.size();
        const ssize_t count = ::write(1, block.data(), wanted);
        if (count <= 0) std::exit(1);
        bytes -= static_cast<unsigned long>(count);
    }
}

/// What a process inherits, one fact a line.
void report() {
    DIR* folder = ::opendir("/proc/self/fd");
    while (const dirent* item = ::readdir(folder))
        if (item->d_name[0] != '.' && std::atoi(item->d_name) != ::dirfd(folder))
            std::printf("fd %s\n", item->d_name);
    ::closedir(folder);
    sigset_t mask;
    ::sigprocmask(SIG_SETMASK, nullptr, &mask);
    for (int number = 1; number < NSIG; ++number) {
        if (::sigismember(&mask, number) == 1) std::printf("blocked %d\n", number);

        struct sigaction action {};

        if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
            std::printf("ignored %d\n", number);
    }
    cpu_set_t cpus;
    ::sched_getaffinity(0, sizeof cpus, &cpus);
    std::printf("cpus %d\n", CPU_COUNT(&cpus));
    rlimit core{};
    ::getrlimit(RLIMIT_CORE, &core);
    std::printf("core %lu\n", static_cast<unsigned long>(core.rlim_cur));
    std::printf("leader %d\n", ::getsid(0) == ::getpid() ? 1 : 0);
    int death_signal = 0;
    ::prctl(PR_GET_PDEATHSIG, &death_signal);
    std::printf("death %d\n", death_signal);
    if (FILE* file = std::fopen("/proc/self/oom_score_adj", "r")) {
        int score = 0;
        if (std::fscanf(file, "%d", &score) == 1) std::printf("oom %d\n", score);
        std::fclose(file);
    }
    for (char** entry = environ; *entry != nullptr; ++entry)
        std::printf("env %s\n", *entry);
    std::array<char, 4096> folder_name{};
    std::printf("cwd %s\n", ::getcwd(folder_name.data(), folder_name.size()));
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    const char* const argument = argc > 2 ? argv[2] : "";
    if (mode == "exit") return std::atoi(argument);
    if (mode == "raise") ::raise(std::atoi(argument));
    if (mode == "wait") wait_for_ever();
    if (mode == "linger") {
        ::signal(SIGTERM, SIG_IGN);
        wait_for_ever();
    }
    if (mode == "leave") daemonise(argv[0], argument, false);
    if (mode == "leave-clean") daemonise(argv[0], argument, true);
    if (mode == "cling") { // argument: file that tells when all is there
        ::signal(SIGTERM, SIG_IGN);
        daemonise(argv[0], argv[3], false);
        daemonise(argv[0], argv[3], true);
        touch(argument);
        wait_for_ever();
    }
    if (mode == "ready-wait") {
        touch(argument);
        wait_for_ever();
    }
    if (mode == "ready-linger") {
        ::signal(SIGTERM, SIG_IGN);
        touch(argument);
        wait_for_ever();
    }
    if (mode == "flood") flood(std::strtoul(argument, nullptr, 10));
    if (mode == "say") std::fputs(argument, stderr);
    if (mode == "close-output") { // then waits for its input's end, which never comes from /dev/zero
        ::close(1);
        ::close(2);
        touch(argument);
        wait_for_ever();
    }
    if (mode == "count-input") {
        unsigned long total = 0;
        std::array<char, 65536> block{};
        for (ssize_t count = 0; (count = ::read(0, block.data(), block.size())) > 0;)
            total += static_cast<unsigned long>(count);
        std::printf("%lu", total);
    }
    if (mode == "report") report();
    return 0;
}
