#pragma once

#include <cstddef>
#include <string_view>

namespace tessera::llm {

/// Bytes of the well-formed UTF-8 character at the start of `text`; 0 if there is none (truncated, overlong,
/// a surrogate, above U+10FFFF).
std::size_t utf8_length(std::string_view text);

} // namespace tessera::llm
