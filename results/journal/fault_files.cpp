#include <tessera/journal/fault_files.hpp>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

#include <unistd.h>

namespace tessera {

SimulatedKill::SimulatedKill(const std::string& path)
    : IoError("go on after a simulated kill at", path, EINTR) {}

void FaultFiles::kill_before_operation(std::uint64_t operation) {
    const std::lock_guard lock(mutex_);
    kill_operation_ = operation;
}

void FaultFiles::kill_after_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    kill_bytes_ = bytes;
}

void FaultFiles::fail(FileOperation operation, int code, std::uint64_t skip) {
    const std::lock_guard lock(mutex_);
    failures_[operation] = {code, counts_[operation] + skip};
}

void FaultFiles::fail_writes_after(std::uint64_t bytes, int code) {
    const std::lock_guard lock(mutex_);
    full_bytes_ = bytes_ + bytes;
    full_code_ = code;
}

void FaultFiles::limit_writes(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    write_limit_ = bytes;
}

void FaultFiles::heal() {
    const std::lock_guard lock(mutex_);
    failures_.clear();
    full_bytes_.reset();
    write_limit_ = SIZE_MAX;
}

void FaultFiles::lose_unsynced() {
    const std::lock_guard lock(mutex_);
    for (const auto& [path, size] : sizes_) {
        if (::access(path.c_str(), F_OK) != 0) continue;
        if (::truncate(path.c_str(), static_cast<off_t>(size.synced)) != 0) throw IoError("cut", path, errno);
    }
}

std::uint64_t FaultFiles::operations() const {
    const std::lock_guard lock(mutex_);
    return operations_;
}

std::uint64_t FaultFiles::bytes_written() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

std::uint64_t FaultFiles::count(FileOperation operation) const {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(operation);
    return found == counts_.end() ? 0 : found->second;
}

bool FaultFiles::killed() const {
    const std::lock_guard lock(mutex_);
    return killed_;
}

void FaultFiles::die(const std::string& path) {
    killed_ = true;
    throw SimulatedKill(path);
}

void FaultFiles::enter(FileOperation operation, const std::string& path) {
    if (killed_ || kill_operation_ == operations_) die(path);
    ++operations_;
    const std::uint64_t count = counts_[operation]++;
    const auto failure = failures_.find(operation);
    if (failure != failures_.end() && count >= failure->second.skip)
        throw IoError("do as told by a test with", path, failure->second.code);
}

UniqueFd FaultFiles::open(const std::string& path, int flags, unsigned mode) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::open, path);
    UniqueFd file = inner_.open(path, flags, mode);

    struct stat status {};

    if (::fstat(file.get(), &status) == 0) {
        const auto size = static_cast<std::uint64_t>(status.st_size);
        sizes_.try_emplace(path, FileSize{size, size});
    }
    return file;
}

std::size_t FaultFiles::allowed_bytes(std::size_t wanted) const {
    std::uint64_t allowed = std::min<std::uint64_t>(wanted, write_limit_);
    if (full_bytes_) allowed = std::min(allowed, *full_bytes_ - std::min(*full_bytes_, bytes_));
    if (kill_bytes_) allowed = std::min(allowed, *kill_bytes_ - std::min(*kill_bytes_, bytes_));
    return static_cast<std::size_t>(allowed);
}

std::size_t FaultFiles::write(int fd, std::string_view bytes, const std::string& path) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::write, path);
    const std::string_view allowed = bytes.substr(0, allowed_bytes(bytes.size()));
    std::size_t written = 0;
    while (written < allowed.size())
        written += inner_.write(fd, allowed.substr(written), path);
    bytes_ += written;
    sizes_[path].written += written;
    if (kill_bytes_ && bytes_ >= *kill_bytes_) die(path);
    if (written == 0 && !bytes.empty()) throw IoError("write", path, full_code_);
    return written;
}

void FaultFiles::sync_data(int fd, const std::string& path) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::sync_data, path);
    inner_.sync_data(fd, path);
    sizes_[path].synced = sizes_[path].written;
}

void FaultFiles::sync_folder(const std::string& path) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::sync_folder, path);
    inner_.sync_folder(path);
}

void FaultFiles::rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::rename, to);
    inner_.rename(from, to);
    if (auto moved = sizes_.extract(from)) sizes_[to] = moved.mapped();
}

bool FaultFiles::link(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::link, to);
    const bool linked = inner_.link(from, to);
    const auto source = sizes_.find(from);
    if (linked && source != sizes_.end()) sizes_[to] = source->second;
    return linked;
}

void FaultFiles::unlink(const std::string& path) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::unlink, path);
    inner_.unlink(path);
    sizes_.erase(path);
}

bool FaultFiles::make_folder(const std::string& path, unsigned mode) {
    const std::lock_guard lock(mutex_);
    enter(FileOperation::make_folder, path);
    return inner_.make_folder(path, mode);
}

} // namespace tessera
