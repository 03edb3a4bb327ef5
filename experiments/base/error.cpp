#include <tessera/base/error.hpp>

#include <fmt/core.h>

#include <cstring>

namespace tessera {

IoError::IoError(std::string operation_, std::string path_, int code_)
    : Error(fmt::format("{}: cannot {}: {}", path_, operation_, std::strerror(code_)))
    , operation(std::move(operation_))
    , path(std::move(path_))
    , code(code_) {}

FormatError::FormatError(std::string source_, std::uint64_t offset_, const std::string& what)
    : Error(fmt::format("{}: byte {}: {}", source_, offset_, what))
    , source(std::move(source_))
    , offset(offset_) {}

} // namespace tessera
