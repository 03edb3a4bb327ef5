#include "temporary_folder.hpp"

#include <cstdlib>
#include <stdexcept>

namespace tessera::llm::test {

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tessera-llm-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path data_folder() {
    return std::filesystem::path(TESSERA_SOURCE_DIR) / "experiments" / "data";
}

} // namespace tessera::llm::test
