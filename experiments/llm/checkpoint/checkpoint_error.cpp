#include <tessera/checkpoint/checkpoint_error.hpp>

#include <fmt/core.h>

#include <utility>

namespace tessera::llm {

CheckpointError::CheckpointError(std::string path_, std::string problem_, std::string remedy_)
    : UserError(fmt::format("{}: {}; {}", path_, problem_, remedy_))
    , path(std::move(path_))
    , problem(std::move(problem_))
    , remedy(std::move(remedy_)) {}

} // namespace tessera::llm
