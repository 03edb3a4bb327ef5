#include <tessera/base/fd.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/program/text_file.hpp>

#include <fmt/core.h>

#include <filesystem>

namespace tessera::llm {

std::string read_text(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        throw CheckpointError(path, "not a file", "name the text with --data, such as wiki.test.raw");
    return read_file(path);
}

std::unique_ptr<const Tokenizer> load_tokenizer(const Checkpoint& checkpoint) {
    auto tokenizer = std::make_unique<const Tokenizer>(
        (std::filesystem::path(checkpoint.folder()) / "tokenizer.model").string());
    const std::int64_t rows = checkpoint.config().vocab_size;
    if (tokenizer->size() <= rows) return tokenizer;
    throw CheckpointError(
        checkpoint.folder(),
        fmt::format("tokenizer.model has {} pieces, the model only {}", tokenizer->size(), rows),
        "use the tokenizer that belongs to the model");
}

} // namespace tessera::llm
