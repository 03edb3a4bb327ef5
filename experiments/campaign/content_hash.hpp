#pragma once

#include <map>
#include <string>
#include <sys/stat.h>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera {

/// Says what files and folders hold. A file of unchanged size and modification time is read once.
class ContentHashes {
public:
    /// Hexadecimal SHA-256: of a file's bytes, or of the relative names and hashes of all files in a folder.
    /// Neither the name of the file or folder itself, nor times and owners, count. Symbolic links are
    /// followed. Throws IoError; UserError for a folder that holds itself through a link.
    std::string of(const std::string& path);

private:
    using FileKey = std::tuple<dev_t, ino_t, off_t, time_t, long>;

    std::string of_file(const std::string& path, const struct stat& status);
    std::string of_folder(const std::string& path, const struct stat& status);

    std::map<FileKey, std::string> known_;
    std::vector<std::pair<dev_t, ino_t>> parents_;
};

} // namespace tessera
