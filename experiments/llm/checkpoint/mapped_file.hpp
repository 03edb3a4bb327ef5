#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tessera::llm {

/// A file mapped for reading. A file that another process shortens while it is mapped raises SIGBUS, as with
/// any mapping.
class MappedFile {
public:
    /// Throws IoError; CheckpointError if the path is not a regular file.
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_bytes_}; }

private:
    void unmap() noexcept;

    const std::byte* data_ = nullptr;
    std::size_t size_bytes_ = 0;
};

} // namespace tessera::llm
