#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// The rows of the Hugging Face dataset wikitext-2-raw-v1 from the raw file's text: a row is "" for a line of
/// white space only, else the line with its line feed.
std::vector<std::string> wikitext_rows(std::string_view raw_text);

} // namespace tessera::llm
