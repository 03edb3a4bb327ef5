#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>
#include <unistd.h>

/// A folder that goes with the object, in memory where the machine has that: the tests sync thousands of
/// times.
class TemporaryFolder {
public:
    TemporaryFolder() {
        const bool memory = ::access("/dev/shm", W_OK | X_OK) == 0;
        const std::filesystem::path root = memory ? "/dev/shm" : std::filesystem::temp_directory_path();
        std::string name = (root / "tessera-journal-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }

    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }

    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};
