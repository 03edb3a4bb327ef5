#pragma once

#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/tokenizer/tokenizer.hpp>

#include <memory>
#include <string>

namespace tessera::llm {

/// The text that --data names. Throws CheckpointError if it is not a file.
std::string read_text(const std::string& path);

/// The tokenizer of a checkpoint, every id of which has its row in the embedding: LibTorch would end the
/// program, or read beyond the table on a GPU. Throws CheckpointError.
std::unique_ptr<const Tokenizer> load_tokenizer(const Checkpoint& checkpoint);

} // namespace tessera::llm
