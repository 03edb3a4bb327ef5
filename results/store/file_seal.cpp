#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/hex.hpp>
#include <tessera/base/sha256.hpp>
#include <tessera/store/file_seal.hpp>
#include <tessera/store/hdf5_handle.hpp>

#include <cerrno>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr std::string_view heading = "Tessera results; SHA-256 of the bytes from 512 on: ";
constexpr std::size_t read_block_bytes = 1UL << 20U;

std::size_t read_at(int file, char* to, std::size_t size, std::uint64_t offset, const std::string& path) {
    for (;;) {
        const ssize_t count = ::pread(file, to, size, static_cast<off_t>(offset));
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) throw IoError("read", path, errno);
    }
}

/// What the user block of a file with this content begins with.
std::string seal_of(int file, const std::string& path) {
    Sha256 hash;
    std::vector<char> block(read_block_bytes);
    std::uint64_t offset = user_block_bytes;
    for (;;) {
        const std::size_t count = read_at(file, block.data(), block.size(), offset, path);
        if (count == 0) break;
        hash.update({block.data(), count});
        offset += count;
    }
    return std::string(heading) + to_hex(hash.finish()) + '\n';
}

} // namespace

void seal_file(const std::string& path) {
    const UniqueFd file = open_file(path, O_RDWR);
    write_all(file.get(), seal_of(file.get(), path), path);
}

void check_seal(const std::string& path) {
    const UniqueFd file = open_file(path, O_RDONLY);
    std::string block(user_block_bytes, '\0');
    block.resize(read_at(file.get(), block.data(), block.size(), 0, path));
    if (!block.starts_with(heading)) throw FormatError(path, 0, "not a file of Tessera's results");
    if (!block.starts_with(seal_of(file.get(), path)))
        throw FormatError(path, 0, "damaged: its checksum does not hold");
}

} // namespace tessera
