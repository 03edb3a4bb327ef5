#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/hex.hpp>
#include <tessera/base/sha256.hpp>
#include <tessera/campaign/content_hash.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tessera {

namespace {

struct stat status_of(const std::string& path) {
    struct stat status {};

    if (::stat(path.c_str(), &status) != 0) throw IoError("stat", path, errno);
    return status;
}

std::string hash_bytes(const std::string& path) {
    const UniqueFd fd = open_file(path, O_RDONLY | O_NOCTTY);
    std::vector<char> buffer(1U << 20U);
    Sha256 sha;
    for (;;) {
        const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw IoError("read", path, errno);
        if (count == 0) return to_hex(sha.finish());
        sha.update({buffer.data(), static_cast<std::size_t>(count)});
    }
}

} // namespace

std::string ContentHashes::of(const std::string& path) {
    const struct stat status = status_of(path);
    if (S_ISREG(status.st_mode)) return of_file(path, status);
    if (S_ISDIR(status.st_mode)) return of_folder(path, status);
    throw UserError(fmt::format("{}: neither a file nor a folder", path));
}

std::string ContentHashes::of_file(const std::string& path, const struct stat& status) {
    const FileKey key{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                      status.st_mtim.tv_nsec};
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_.emplace(key, hash_bytes(path)).first->second;
}

std::string ContentHashes::of_folder(const std::string& path, const struct stat& status) {
    const std::pair self{status.st_dev, status.st_ino};
    if (std::find(parents_.begin(), parents_.end(), self) != parents_.end())
        throw UserError(fmt::format("{}: this folder holds itself through a symbolic link", path));
    parents_.push_back(self);
    std::map<std::string, std::string> entries;
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
        entries.emplace(entry->path().filename().string(), of(entry->path().string()));
    if (error) throw IoError("read folder", path, error.value());
    parents_.pop_back();
    Sha256 sha;
    sha.update("folder\n");
    for (const auto& [name, hash] : entries)
        sha.update(fmt::format("{}:{} {}\n", name.size(), name, hash));
    return to_hex(sha.finish());
}

} // namespace tessera
