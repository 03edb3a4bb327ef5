#include <tessera/base/fd.hpp>
#include <tessera/base/sha256.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/tokenizer/bpe.hpp>
#include <tessera/tokenizer/tokenizer.hpp>
#include <tessera/tokenizer/utf8.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace tessera::llm {
namespace {

using PieceType = SentencePieceModel::PieceType;

constexpr std::string_view space_mark = "\xE2\x96\x81";
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";
const char* const other_tokenizer = "use the SentencePiece BPE tokenizer.model of a Llama checkpoint";

std::string read_model_file(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        throw CheckpointError(path, "not found", "put the model's SentencePiece tokenizer.model there");
    }
    return read_file(path);
}

/// Refuses what would need rules that this tokenizer does not have, rather than give other ids.
void check_supported(const SentencePieceModel& model, const std::string& path) {
    const auto refuse = [&](const std::string& what) { throw CheckpointError(path, what, other_tokenizer); };
    if (model.pieces.empty()) refuse("the tokenizer has no pieces");
    if (model.model_type != SentencePieceModel::bpe_model_type) refuse("the tokenizer is not a BPE model");
    if (!model.character_map.empty()) refuse("the tokenizer normalizes characters");
    if (!model.escape_whitespaces || model.whitespace_as_suffix) {
        refuse("the tokenizer has other rules for white space than Llama's");
    }
    const auto size = static_cast<std::int64_t>(model.pieces.size());
    if (model.bos_id < 0 || model.bos_id >= size) refuse("the tokenizer has no BOS piece");
    if (model.unknown_id < 0 || model.unknown_id >= size)
        refuse("the tokenizer has no piece for unknown text");
    for (const auto& piece : model.pieces) {
        if (piece.type == PieceType::user_defined || piece.type == PieceType::unused) {
            refuse(fmt::format("the tokenizer has user-defined or unused pieces, such as '{}'", piece.text));
        }
    }
}

} // namespace

Tokenizer::Tokenizer(const std::string& path) {
    const std::string bytes = read_model_file(path);
    model_ = parse_sentencepiece_model(bytes, path);
    check_supported(model_, path);
    sha256_ = sha256_hex(bytes);
    index_pieces(path);
}

void Tokenizer::index_pieces(const std::string& path) {
    byte_ids_.fill(-1);
    for (std::size_t i = 0; i < model_.pieces.size(); ++i) {
        const auto& piece = model_.pieces[i];
        const auto id = static_cast<std::int32_t>(i);
        if (piece.type == PieceType::normal && !ids_.emplace(piece.text, id).second) {
            throw CheckpointError(path, fmt::format("the piece '{}' appears twice", piece.text),
                                  other_tokenizer);
        }
        if (piece.type != PieceType::byte) continue;
        for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
            if (piece.text == fmt::format("<0x{:02X}>", byte)) byte_ids_[byte] = id;
        }
    }
    if (model_.byte_fallback && std::count(byte_ids_.begin(), byte_ids_.end(), -1) != 0) {
        throw CheckpointError(path, "the tokenizer lacks byte pieces", other_tokenizer);
    }
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
    const std::string normalized = normalize(text);
    const auto score = [this](std::string_view piece) -> std::optional<float> {
        const auto id = find(piece);
        if (!id) return std::nullopt;
        return model_.pieces[static_cast<std::size_t>(*id)].score;
    };
    std::vector<std::int32_t> ids;
    for (const std::string_view piece : merge_pairs(normalized, score)) {
        if (const auto id = find(piece)) {
            ids.push_back(*id);
        } else {
            append_unknown(piece, ids);
        }
    }
    return ids;
}

/// A mark before the text and in place of each space. Some models also drop spaces at both ends and all but
/// the first of several.
std::string Tokenizer::normalize(std::string_view text) const {
    const bool squeeze = model_.remove_extra_whitespaces;
    if (squeeze) text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::string normalized;
    if (text.empty()) return normalized;
    normalized.reserve(text.size() * 3 / 2);
    if (model_.add_dummy_prefix) normalized += space_mark;
    bool after_space = false;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const bool is_space = text.front() == ' ';
        if (is_space) {
            if (!squeeze || !after_space) normalized += space_mark;
        } else if (length == 0) {
            normalized += replacement_character;
        } else {
            normalized += text.substr(0, length);
        }
        after_space = is_space;
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    while (squeeze && normalized.ends_with(space_mark))
        normalized.resize(normalized.size() - space_mark.size());
    return normalized;
}

std::optional<std::int32_t> Tokenizer::find(std::string_view piece) const {
    const auto found = ids_.find(piece);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
}

/// Its bytes, where the model has pieces for them; else one unknown id for a run of unknown characters.
void Tokenizer::append_unknown(std::string_view piece, std::vector<std::int32_t>& ids) const {
    if (model_.byte_fallback) {
        for (const char byte : piece)
            ids.push_back(byte_ids_[static_cast<std::uint8_t>(byte)]);
        return;
    }
    const auto unknown = static_cast<std::int32_t>(model_.unknown_id);
    if (ids.empty() || ids.back() != unknown) ids.push_back(unknown);
}

} // namespace tessera::llm
