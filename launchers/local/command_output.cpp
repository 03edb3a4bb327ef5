#include <tessera/base/fd.hpp>
#include <tessera/local/command_output.hpp>

#include <cerrno>
#include <sys/wait.h>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

extern char** environ;

namespace tessera {

namespace {

/// stdin and stderr from and to /dev/null, stdout into a pipe.
class FileActions {
public:
    explicit FileActions(int stdout_fd) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, stdout_fd, STDOUT_FILENO);
    }

    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

std::string read_some(int fd) {
    constexpr std::size_t limit = 65536;
    std::string text;
    char buffer[4096];
    for (;;) {
        const ssize_t count = ::read(fd, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return text;
        if (text.size() < limit) text.append(buffer, static_cast<std::size_t>(count));
    }
}

} // namespace

std::optional<std::string> command_output(const std::vector<std::string>& argv) {
    std::vector<char*> words;
    for (const std::string& word : argv)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);

    Pipe pipe = make_pipe();
    const FileActions actions(pipe.write.get());
    pid_t pid = 0;
    if (::posix_spawnp(&pid, words[0], actions.get(), nullptr, words.data(), environ) != 0)
        return std::nullopt;
    pipe.write.reset();
    std::string text = read_some(pipe.read.get());
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
    return text;
}

} // namespace tessera
