#pragma once

#include <tessera/base/error.hpp>
#include <tessera/journal/file_layer.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace tessera {

/// Thrown in place of the death of the process: everything after it is refused too, so the disk stays as a
/// SIGKILL would have left it.
class SimulatedKill : public IoError {
public:
    explicit SimulatedKill(const std::string& path);
};

enum class FileOperation : std::uint8_t {
    open,
    write,
    sync_data,
    sync_folder,
    rename,
    link,
    unlink,
    make_folder
};

/// For tests: a file layer over another one whose steps fail when told. May be used by several threads.
class FaultFiles final : public FileLayer {
public:
    explicit FaultFiles(FileLayer& inner = system_files())
        : inner_(inner) {}

    /// The process dies before its `operation`th step (0 is the first) ...
    void kill_before_operation(std::uint64_t operation);

    /// ... or after it has written this many bytes in all, which may be within a write.
    void kill_after_bytes(std::uint64_t bytes);

    /// Every operation of this kind fails with `code` from its `skip`th occurrence on, until heal().
    void fail(FileOperation operation, int code, std::uint64_t skip = 0);

    /// A disk with room for this many more bytes: then writes fail with `code` (ENOSPC, EDQUOT), until
    /// heal().
    void fail_writes_after(std::uint64_t bytes, int code);

    /// No write takes more than this.
    void limit_writes(std::size_t bytes);

    void heal();

    /// What a power cut leaves in the worst case: each file keeps only what was synced. Call it when all is
    /// closed.
    void lose_unsynced();

    std::uint64_t operations() const;
    std::uint64_t bytes_written() const;
    std::uint64_t count(FileOperation operation) const;
    bool killed() const;

    UniqueFd open(const std::string& path, int flags, unsigned mode) override;
    std::size_t write(int fd, std::string_view bytes, const std::string& path) override;
    void sync_data(int fd, const std::string& path) override;
    void sync_folder(const std::string& path) override;
    void rename(const std::string& from, const std::string& to) override;
    bool link(const std::string& from, const std::string& to) override;
    void unlink(const std::string& path) override;
    bool make_folder(const std::string& path, unsigned mode) override;

private:
    struct Failure {
        int code = 0;
        std::uint64_t skip = 0;
    };

    struct FileSize {
        std::uint64_t synced = 0;
        std::uint64_t written = 0;
    };

    /// Counts the step and throws if it is to fail. The mutex is held.
    void enter(FileOperation operation, const std::string& path);
    [[noreturn]] void die(const std::string& path);
    std::size_t allowed_bytes(std::size_t wanted) const;

    FileLayer& inner_;
    mutable std::mutex mutex_;
    bool killed_ = false;
    std::uint64_t operations_ = 0;
    std::uint64_t bytes_ = 0;
    std::map<FileOperation, std::uint64_t> counts_;
    std::map<FileOperation, Failure> failures_;
    std::optional<std::uint64_t> kill_operation_;
    std::optional<std::uint64_t> kill_bytes_;
    std::optional<std::uint64_t> full_bytes_; ///< of bytes_ at which the disk is full
    int full_code_ = 0;
    std::size_t write_limit_ = SIZE_MAX;
    std::map<std::string, FileSize> sizes_;
};

} // namespace tessera
