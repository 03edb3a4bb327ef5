#include <tessera/text/wikitext.hpp>

namespace tessera::llm {

std::vector<std::string> wikitext_rows(std::string_view raw_text) {
    std::vector<std::string> rows;
    while (!raw_text.empty()) {
        const std::size_t length = std::min(raw_text.find('\n'), raw_text.size() - 1) + 1;
        const std::string_view line = raw_text.substr(0, length);
        const bool blank = line.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
        rows.emplace_back(blank ? std::string_view() : line);
        raw_text.remove_prefix(length);
    }
    return rows;
}

} // namespace tessera::llm
