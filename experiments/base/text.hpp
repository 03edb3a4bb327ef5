#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The candidate nearest to `word` by edit distance, if near enough to be what was meant.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'X'?)" or an empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// True if `text` matches `pattern`, in which `*` stands for any run of characters and `?` for one byte.
bool glob_match(std::string_view pattern, std::string_view text);

/// One word for a POSIX shell.
std::string shell_quote(std::string_view word);

/// An argument vector as one shell line.
std::string shell_line(std::span<const std::string> argv);

/// `bytes` with every malformed UTF-8 sequence replaced by U+FFFD.
std::string repair_utf8(std::string_view bytes);

/// `text` with every NUL replaced by U+FFFD, for what ends a text at the first one.
std::string replace_nul(std::string_view text);

/// "90s", "3h", "2d", "1h30m", "10ms" or a bare number of seconds, units from large to small; empty if it is
/// none of these, negative or above a century.
std::optional<double> parse_duration_s(std::string_view text);

/// "512", "16M", "2G", "1.5GiB": bytes, with binary multiples for K, M, G, T (with or without "iB") and
/// decimal ones for KB, MB...
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// A span for people: "12.3 s", "4 min 05 s", "2 h 10 min".
std::string format_duration(double value_s);

std::string to_lower(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);

} // namespace tessera
