#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/text/windows.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

namespace tessera::llm {
namespace {

/// The default batch of `datasets.map`, whose batches the study's script cuts one by one.
constexpr std::size_t study_batch_rows = 1000;

void append_windows(const std::vector<std::int32_t>& tokens, std::size_t context, std::size_t limit,
                    TokenWindows& result) {
    for (std::size_t start = 0; tokens.size() - start >= context && result.windows.size() < limit;
         start += context) {
        const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(start);
        result.windows.emplace_back(first, first + static_cast<std::ptrdiff_t>(context));
    }
}

TokenWindows cut_by_study(const std::vector<std::string>& rows, const Encoder& encode,
                          const WindowOptions& options, std::size_t limit) {
    TokenWindows result;
    result.bos_rule = "one BOS before each row";
    const auto context = static_cast<std::size_t>(options.context);
    for (std::size_t start = 0; start < rows.size() && result.windows.size() < limit;
         start += study_batch_rows) {
        std::vector<std::int32_t> tokens;
        const std::size_t end = std::min(rows.size(), start + study_batch_rows);
        for (std::size_t row = start; row < end; ++row) {
            const auto ids = encode(rows[row]);
            tokens.push_back(options.bos_id);
            tokens.insert(tokens.end(), ids.begin(), ids.end());
        }
        append_windows(tokens, context, limit, result);
    }
    result.tokens = static_cast<std::int64_t>(result.windows.size() * context);
    return result;
}

TokenWindows cut_by_gptq(const std::vector<std::string>& rows, const Encoder& encode,
                         const WindowOptions& options, std::size_t limit) {
    std::string text;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (row != 0) text += "\n\n";
        text += rows[row];
    }
    std::vector<std::int32_t> tokens{options.bos_id};
    const auto ids = encode(text);
    tokens.insert(tokens.end(), ids.begin(), ids.end());

    TokenWindows result;
    result.bos_rule = "one BOS at the start of the text";
    append_windows(tokens, static_cast<std::size_t>(options.context), limit, result);
    result.tokens = static_cast<std::int64_t>(tokens.size());
    return result;
}

} // namespace

std::string_view definition_name(Definition definition) {
    return definition == Definition::study ? "study" : "gptq";
}

Definition parse_definition(std::string_view name) {
    static const std::array<std::string, 2> names{"study", "gptq"};
    if (name == names[0]) return Definition::study;
    if (name == names[1]) return Definition::gptq;
    throw UserError(
        fmt::format("--definition {}: unknown{}; choose study or gptq", name, did_you_mean(name, names)));
}

TokenWindows cut_windows(const std::vector<std::string>& rows, const Encoder& encode,
                         const WindowOptions& options) {
    const std::size_t limit = options.limit == 0 ? std::numeric_limits<std::size_t>::max()
                                                 : static_cast<std::size_t>(options.limit);
    return options.definition == Definition::study ? cut_by_study(rows, encode, options, limit)
                                                   : cut_by_gptq(rows, encode, options, limit);
}

} // namespace tessera::llm
