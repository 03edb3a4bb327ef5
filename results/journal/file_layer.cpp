#include <tessera/base/error.hpp>
#include <tessera/base/id.hpp>
#include <tessera/journal/file_layer.hpp>

#include <cerrno>
#include <cstdio>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

class SystemFiles final : public FileLayer {
public:
    UniqueFd open(const std::string& path, int flags, unsigned mode) override {
        return open_file(path, flags | O_NOFOLLOW, mode);
    }

    std::size_t write(int fd, std::string_view bytes, const std::string& path) override {
        for (;;) {
            const ssize_t count = ::write(fd, bytes.data(), bytes.size());
            if (count > 0 || bytes.empty()) return static_cast<std::size_t>(count);
            if (count == 0) throw IoError("write", path, ENOSPC);
            if (errno != EINTR) throw IoError("write", path, errno);
        }
    }

    void sync_data(int fd, const std::string& path) override {
        if (::fdatasync(fd) != 0) throw IoError("sync", path, errno);
    }

    void sync_folder(const std::string& path) override {
        const UniqueFd folder = open_file(path, O_RDONLY | O_DIRECTORY);
        if (::fsync(folder.get()) != 0 && errno != EINVAL) throw IoError("sync the folder", path, errno);
    }

    void rename(const std::string& from, const std::string& to) override {
        if (std::rename(from.c_str(), to.c_str()) != 0) throw IoError("rename to", to, errno);
    }

    bool link(const std::string& from, const std::string& to) override {
        if (::link(from.c_str(), to.c_str()) == 0) return true;
        if (errno == EEXIST) return false;
        throw IoError("link to", to, errno);
    }

    void unlink(const std::string& path) override {
        if (::unlink(path.c_str()) != 0) throw IoError("remove", path, errno);
    }

    bool make_folder(const std::string& path, unsigned mode) override {
        if (::mkdir(path.c_str(), mode) == 0) return true;
        if (errno == EEXIST) return false;
        throw IoError("make the folder", path, errno);
    }
};

/// A synced file beside `path`. It is removed again when `use` throws, as far as that is possible.
template <typename Use>
auto with_temporary(FileLayer& files, const std::string& path, std::string_view content, unsigned mode,
                    Use use) {
    const std::string temporary = path + ".tmp-" + Id128::random().short_hex(12);
    try {
        const UniqueFd file = files.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
        write_fully(files, file.get(), content, temporary);
        files.sync_data(file.get(), temporary);
        return use(temporary);
    } catch (const IoError&) {
        try {
            files.unlink(temporary);
        } catch (const IoError&) { // the first error is the one to tell
        }
        throw;
    }
}

} // namespace

FileLayer& system_files() {
    static SystemFiles files;
    return files;
}

void write_fully(FileLayer& files, int fd, std::string_view bytes, const std::string& path) {
    while (!bytes.empty())
        bytes.remove_prefix(files.write(fd, bytes, path));
}

void replace_file(FileLayer& files, const std::string& path, std::string_view content, unsigned mode) {
    with_temporary(files, path, content, mode,
                   [&](const std::string& temporary) { files.rename(temporary, path); });
    files.sync_folder(parent_folder(path));
}

bool create_file(FileLayer& files, const std::string& path, std::string_view content, unsigned mode) {
    const bool created = with_temporary(files, path, content, mode, [&](const std::string& temporary) {
        const bool linked = files.link(temporary, path);
        files.unlink(temporary);
        return linked;
    });
    files.sync_folder(parent_folder(path));
    return created;
}

std::string parent_folder(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

} // namespace tessera
