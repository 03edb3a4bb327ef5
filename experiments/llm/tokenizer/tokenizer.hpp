#pragma once

#include <tessera/tokenizer/sentencepiece_model.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::llm {

/// A SentencePiece BPE tokenizer.model, such as those of Llama 1 and 2 and TinyLlama. Gives the ids that
/// SentencePiece's own library gives.
class Tokenizer {
public:
    /// Throws CheckpointError, FormatError or IoError.
    explicit Tokenizer(const std::string& path);
    /// Not copied: the index views the pieces of its own object.
    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;

    /// Ids of `text`, without BOS or EOS; none for empty text. Malformed UTF-8 counts as U+FFFD, byte by
    /// byte.
    std::vector<std::int32_t> encode(std::string_view text) const;

    std::int32_t bos_id() const { return static_cast<std::int32_t>(model_.bos_id); }

    std::int32_t size() const { return static_cast<std::int32_t>(model_.pieces.size()); }

    /// SHA-256 of the file.
    const std::string& sha256() const { return sha256_; }

private:
    std::string normalize(std::string_view text) const;
    std::optional<std::int32_t> find(std::string_view piece) const;
    void append_unknown(std::string_view piece, std::vector<std::int32_t>& ids) const;
    void index_pieces(const std::string& path);

    SentencePieceModel model_;
    std::string sha256_;
    /// Keys view the pieces' text.
    std::unordered_map<std::string_view, std::int32_t> ids_;
    std::array<std::int32_t, 256> byte_ids_{};
};

} // namespace tessera::llm
