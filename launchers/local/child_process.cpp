#include <tessera/base/error.hpp>
#include <tessera/local/child_process.hpp>

#include <cerrno>
#include <csignal>
#include <sys/wait.h>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

extern char** environ;

namespace tessera {

namespace {

class SpawnSettings {
public:
    explicit SpawnSettings(int stdout_fd) {
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, stdout_fd, STDOUT_FILENO);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setpgroup(&attributes, 0);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
    }

    ~SpawnSettings() {
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }

    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

/// This process' environment with `added` over it.
std::vector<std::string> merged_environment(const std::vector<EnvEntry>& added) {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        bool replaced = false;
        for (const EnvEntry& other : added)
            replaced = replaced || text.rfind(other.name + '=', 0) == 0;
        if (!replaced) entries.push_back(text);
    }
    for (const EnvEntry& entry : added)
        entries.push_back(entry.name + '=' + entry.value);
    return entries;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> out;
    for (const std::string& word : words)
        out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

} // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::vector<EnvEntry>& env) {
    Pipe pipe = make_pipe();
    const SpawnSettings settings(pipe.write.get());
    const std::vector<std::string> environment = merged_environment(env);
    const std::vector<char*> words = pointers(argv);
    const int error = ::posix_spawnp(&pid_, words[0], &settings.actions, &settings.attributes, words.data(),
                                     pointers(environment).data());
    if (error != 0) {
        pid_ = -1;
        throw IoError("start", argv.front(), error);
    }
    stdout_ = std::move(pipe.read);
}

ChildProcess::~ChildProcess() {
    if (pid_ < 0) return;
    signal(SIGKILL);
    wait();
}

void ChildProcess::signal(int number) const {
    if (pid_ > 0) ::kill(-pid_, number);
}

int ChildProcess::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace tessera
