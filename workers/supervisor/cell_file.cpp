#include <tessera/supervisor/cell_file.hpp>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

/// How open(2) itself refuses a symbolic link, a folder, and a socket or a FIFO that nobody reads.
bool says_not_regular(int code) {
    return code == ELOOP || code == EISDIR || code == ENXIO;
}

UniqueFd open_without_waiting(const std::string& path, int flags) {
    try {
        return open_file(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    } catch (const IoError& error) {
        if (says_not_regular(error.code)) throw NotRegularFile(path);
        throw;
    }
}

} // namespace

NotRegularFile::NotRegularFile(std::string path_)
    : Error(path_ + ": not a regular file")
    , path(std::move(path_)) {}

UniqueFd open_cell_file(const std::string& path, int flags) {
    UniqueFd file = open_without_waiting(path, flags);

    struct stat status {};

    if (::fstat(file.get(), &status) != 0) throw IoError("look at", path, errno);
    if (!S_ISREG(status.st_mode)) throw NotRegularFile(path);
    return file;
}

std::string read_cell_file(const std::string& path, std::uint64_t limit_bytes) {
    const UniqueFd file = open_cell_file(path, O_RDONLY);
    std::string content;
    char buffer[65536];
    while (content.size() < limit_bytes) {
        const std::uint64_t wanted = std::min<std::uint64_t>(sizeof buffer, limit_bytes - content.size());
        const ssize_t count = ::read(file.get(), buffer, static_cast<std::size_t>(wanted));
        if (count == 0) break;
        if (count > 0)
            content.append(buffer, static_cast<std::size_t>(count));
        else if (errno != EINTR)
            throw IoError("read", path, errno);
    }
    return content;
}

} // namespace tessera
