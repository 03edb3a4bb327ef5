#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// The score of a piece; empty if the vocabulary lacks it.
using PieceScore = std::function<std::optional<float>(std::string_view)>;

/// Splits `text`, well-formed UTF-8, as byte-pair encoding does: from single characters, merge the adjacent
/// pair that forms the piece of the highest score, the leftmost on ties, until no pair forms one. The results
/// are views into `text`. O(n log n): a linked list and a heap, since a whole book can be one "word".
std::vector<std::string_view> merge_pairs(std::string_view text, const PieceScore& score);

} // namespace tessera::llm
