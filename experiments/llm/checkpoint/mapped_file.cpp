#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/checkpoint/mapped_file.hpp>

#include <cerrno>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

#include <fcntl.h>

namespace tessera::llm {

MappedFile::MappedFile(const std::string& path) {
    // O_NONBLOCK: opening a named pipe must fail below instead of waiting for a writer.
    const UniqueFd fd = open_file(path, O_RDONLY | O_NONBLOCK);

    struct stat status {};

    if (::fstat(fd.get(), &status) != 0) throw IoError("inspect", path, errno);
    if (!S_ISREG(status.st_mode)) {
        throw CheckpointError(path, "not a regular file", "name the file itself");
    }
    size_bytes_ = static_cast<std::size_t>(status.st_size);
    if (size_bytes_ == 0) return;
    void* address = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (address == MAP_FAILED) throw IoError("map", path, errno);
    data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
    unmap();
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr))
    , size_bytes_(std::exchange(other.size_bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    if (this != &other) {
        unmap();
        data_ = std::exchange(other.data_, nullptr);
        size_bytes_ = std::exchange(other.size_bytes_, 0);
    }
    return *this;
}

void MappedFile::unmap() noexcept {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_bytes_);
    data_ = nullptr;
    size_bytes_ = 0;
}

} // namespace tessera::llm
