#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/id.hpp>

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

void UniqueFd::reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

Pipe make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError("make a pipe", "pipe2", errno);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd open_file(const std::string& path, int flags, unsigned mode) {
    // Of files that are only read a FIFO would block until somebody writes to it; regular files do not care.
    if ((flags & O_ACCMODE) == O_RDONLY) flags |= O_NONBLOCK;
    int fd = -1;
    do {
        fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) throw IoError("open", path, errno);
    return UniqueFd(fd);
}

std::string read_file(const std::string& path) {
    const UniqueFd file = open_file(path, O_RDONLY);
    std::string content;
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
        if (count == 0) return content;
        if (count > 0)
            content.append(buffer, static_cast<std::size_t>(count));
        else if (errno != EINTR)
            throw IoError("read", path, errno);
    }
}

void write_all(int fd, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(count));
        else if (errno != EINTR)
            throw IoError("write", path, errno);
    }
}

void write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
    const std::string temporary = path + ".tmp-" + Id128::random().short_hex(12);
    try {
        const UniqueFd file = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
        write_all(file.get(), content, temporary);
        if (::fsync(file.get()) != 0) throw IoError("sync", temporary, errno);
        if (std::rename(temporary.c_str(), path.c_str()) != 0) throw IoError("rename to", path, errno);
    } catch (const IoError&) {
        ::unlink(temporary.c_str());
        throw;
    }
}

} // namespace tessera
