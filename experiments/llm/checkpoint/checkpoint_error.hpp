#pragma once

#include <tessera/base/error.hpp>

#include <string>

namespace tessera::llm {

/// A checkpoint, tokenizer or text that cannot be used. The message reads "PATH: problem; remedy".
class CheckpointError : public UserError {
public:
    CheckpointError(std::string path, std::string problem, std::string remedy);

    std::string path;
    std::string problem;
    std::string remedy;
};

} // namespace tessera::llm
