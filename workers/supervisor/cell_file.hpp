#pragma once

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>

#include <cstdint>
#include <string>

namespace tessera {

/// There is something of that name, but no regular file.
class NotRegularFile : public Error {
public:
    explicit NotRegularFile(std::string path);

    std::string path;
};

/// Opens a file in a folder where a cell may have put anything under its name: a symbolic link is not
/// followed, a FIFO not waited for, and nothing but a regular file is taken. Throws NotRegularFile, IoError.
UniqueFd open_cell_file(const std::string& path, int flags);

/// The first `limit_bytes` of such a file. Throws as open_cell_file().
std::string read_cell_file(const std::string& path, std::uint64_t limit_bytes);

} // namespace tessera
