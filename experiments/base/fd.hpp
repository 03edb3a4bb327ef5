#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tessera {

/// Owns a file descriptor.
class UniqueFd {
public:
    UniqueFd() = default;

    explicit UniqueFd(int fd)
        : fd_(fd) {}

    ~UniqueFd() { reset(); }

    UniqueFd(UniqueFd&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)) {}

    UniqueFd& operator=(UniqueFd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }

    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;

    int get() const { return fd_; }

    explicit operator bool() const { return fd_ >= 0; }

    int release() { return std::exchange(fd_, -1); }

    void reset();

private:
    int fd_ = -1;
};

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

/// Both ends close on exec. Throws IoError.
Pipe make_pipe();

/// open(2) with O_CLOEXEC, retried on EINTR; to read a FIFO it does not wait for a writer. Throws IoError.
UniqueFd open_file(const std::string& path, int flags, unsigned mode = 0600);

/// The whole file. Throws IoError.
std::string read_file(const std::string& path);

/// Writes a temporary file beside `path`, syncs it and renames it over `path`. Throws IoError.
void write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0600);

/// Writes all bytes, over short writes and EINTR. Throws IoError naming `path`.
void write_all(int fd, std::string_view bytes, const std::string& path);

} // namespace tessera
