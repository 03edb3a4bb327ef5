#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// Token ids of a text by itself, without BOS or EOS.
using Encoder = std::function<std::vector<std::int32_t>(std::string_view)>;

/// How a perplexity is defined: two ways to cut a text that give two numbers.
enum class Definition {
    /// The mixed-precision study (arXiv 2607.05400): each row with BOS, rows concatenated within batches of
    /// 1,000, cut
    /// into blocks, each batch's remainder dropped.
    study,
    /// GPTQ, AWQ and SmoothQuant papers: rows joined by "\n\n", one BOS, cut into windows, the remainder
    /// dropped.
    gptq,
};

/// Throws UserError naming the choices.
Definition parse_definition(std::string_view name);
std::string_view definition_name(Definition definition);

struct TokenWindows {
    /// Each of `context` tokens; the first is not predicted.
    std::vector<std::vector<std::int32_t>> windows;
    /// Tokens in the windows for `study`, as the study counts them; tokens of the whole text for `gptq`.
    std::int64_t tokens = 0;
    std::string bos_rule;
};

struct WindowOptions {
    Definition definition = Definition::study;
    std::int64_t context = 512;
    /// At most so many windows, from the start; 0 means all.
    std::int64_t limit = 0;
    std::int32_t bos_id = 1;
};

/// Cuts the rows of a text into windows. Text that no window needs may stay unread by `study`, and is still
/// tokenized by `gptq`, whose one tokenization covers everything.
TokenWindows cut_windows(const std::vector<std::string>& rows, const Encoder& encode,
                         const WindowOptions& options);

} // namespace tessera::llm
