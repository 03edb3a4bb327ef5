#include <tessera/base/error.hpp>
#include <tessera/local/child_process.hpp>
#include <tessera/local/command_output.hpp>

#include <cerrno>

#include <unistd.h>

namespace tessera {

namespace {

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
    try {
        ChildProcess child(argv, {});
        std::string text = read_some(child.stdout_fd());
        if (child.wait() != 0) return std::nullopt;
        return text;
    } catch (const IoError&) {
        return std::nullopt;
    }
}

} // namespace tessera
