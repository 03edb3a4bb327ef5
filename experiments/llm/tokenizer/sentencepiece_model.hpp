#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// What a SentencePiece tokenizer.model says, as far as BPE models use it. Field numbers and defaults are
/// those of sentencepiece_model.proto, https://github.com/google/sentencepiece
struct SentencePieceModel {
    enum class PieceType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

    struct Piece {
        std::string text;
        float score = 0.0F;
        PieceType type = PieceType::normal;
    };

    static constexpr std::int64_t bpe_model_type = 2;

    std::vector<Piece> pieces;
    std::int64_t model_type = 1;
    bool byte_fallback = false;
    bool whitespace_as_suffix = false;
    std::int64_t unknown_id = 0;
    std::int64_t bos_id = 1;
    /// Rules for replacing characters; empty for the identity.
    std::string character_map;
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;
};

/// Reads the protobuf message. Throws FormatError naming `path`.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& path);

} // namespace tessera::llm
