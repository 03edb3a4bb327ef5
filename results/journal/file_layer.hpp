#pragma once

#include <tessera/base/fd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// The one way by which anything durable is written, so that tests can make every step of it fail
/// (fault_files.hpp). Every function throws IoError. After a failed sync the kernel may have dropped the
/// pages: whoever gets that error must never write to the file again as if nothing had happened.
class FileLayer {
public:
    virtual ~FileLayer() = default;

    /// open(2), never through a symbolic link at the end of `path`, closed on exec.
    virtual UniqueFd open(const std::string& path, int flags, unsigned mode) = 0;

    /// One write(2): how many bytes were taken, at least 1 unless `bytes` is empty.
    virtual std::size_t write(int fd, std::string_view bytes, const std::string& path) = 0;

    /// fdatasync(2).
    virtual void sync_data(int fd, const std::string& path) = 0;

    /// Makes the names in a folder durable.
    virtual void sync_folder(const std::string& path) = 0;

    virtual void rename(const std::string& from, const std::string& to) = 0;

    /// link(2); false if `to` exists.
    virtual bool link(const std::string& from, const std::string& to) = 0;

    virtual void unlink(const std::string& path) = 0;

    /// mkdir(2); false if the name exists.
    virtual bool make_folder(const std::string& path, unsigned mode) = 0;
};

/// The machine's own. Without state.
FileLayer& system_files();

/// Writes all bytes, over short writes.
void write_fully(FileLayer& files, int fd, std::string_view bytes, const std::string& path);

/// Replaces `path` as a whole, durably: temporary file beside it, sync, rename, sync of the folder.
void replace_file(FileLayer& files, const std::string& path, std::string_view content, unsigned mode = 0600);

/// Makes `path` with this content unless it exists, in which case nothing changes and the result is false.
/// Nobody ever sees the file without its content.
bool create_file(FileLayer& files, const std::string& path, std::string_view content, unsigned mode = 0600);

/// The folder that `path` lies in.
std::string parent_folder(const std::string& path);

} // namespace tessera
