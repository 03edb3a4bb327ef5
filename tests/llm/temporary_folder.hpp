#pragma once

#include <filesystem>
#include <string>

namespace tessera::llm::test {

/// A folder that goes with its object.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// Of the data that comes with the repository.
std::filesystem::path data_folder();

} // namespace tessera::llm::test
