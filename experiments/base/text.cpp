#include <tessera/base/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace tessera {

namespace {

/// Insertions, deletions, replacements and swaps of neighbours (the commonest slip of all) count one each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::vector<std::size_t> next(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
        }
        std::swap(before, row);
        std::swap(row, next);
    }
    return row.back();
}

/// Length of the well-formed UTF-8 sequence at the start of `bytes` (Unicode 15, table 3-7), or 0.
std::size_t utf8_length(std::string_view bytes) {
    const auto at = [&](std::size_t i) {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
    };
    const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return at(i) >= low && at(i) <= high;
    };
    const unsigned lead = at(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = lead == 0xED ? 0x9F : 0xBF;
        return continues(1, low, high) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
        return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

/// Splits "12.5GiB" into its number and unit; empty if there is no number at the start.
std::optional<std::pair<double, std::string_view>> number_and_unit(std::string_view text) {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    return std::pair{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

} // namespace

std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates) {
    const std::string wanted = to_lower(word);
    if (word.size() < 2) return std::nullopt;
    const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
    std::optional<std::string> best;
    std::size_t best_distance = limit + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(wanted, to_lower(candidate));
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const auto found = closest(word, candidates);
    return found ? fmt::format(" (did you mean '{}'?)", *found) : std::string();
}

bool glob_match(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

std::string shell_quote(std::string_view word) {
    static constexpr std::string_view safe =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (!word.empty() && word.find_first_not_of(safe) == std::string_view::npos) return std::string(word);
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

std::string shell_line(std::span<const std::string> argv) {
    std::string line;
    for (const std::string& word : argv) {
        if (!line.empty()) line += ' ';
        line += shell_quote(word);
    }
    return line;
}

std::string repair_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t length = utf8_length(bytes);
        if (length == 0)
            text += "\xEF\xBF\xBD";
        else
            text += bytes.substr(0, length);
        bytes.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return text;
}

std::string replace_nul(std::string_view text) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    std::string result;
    for (std::size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
        result.append(text.substr(0, end)).append(replacement);
        text.remove_prefix(end + 1);
    }
    return result.append(text);
}

std::optional<double> parse_duration_s(std::string_view text) {
    struct Unit {
        std::string_view name;
        double scale_s;
    };

    static constexpr Unit units[] = {{"d", 86400}, {"h", 3600}, {"min", 60},
                                     {"m", 60},    {"s", 1},    {"ms", 1e-3}};
    if (const auto plain = number_and_unit(text); plain && plain->second.empty() && plain->first >= 0)
        return plain->first;
    double total_s = 0;
    double last_scale_s = std::numeric_limits<double>::infinity();
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        const auto part = number_and_unit(text);
        if (!part || part->first < 0) return std::nullopt;
        const std::size_t size = std::min(part->second.find_first_of("0123456789."), part->second.size());
        const auto* unit = std::find_if(std::begin(units), std::end(units), [&](const Unit& candidate) {
            return candidate.name == part->second.substr(0, size);
        });
        // "1h30" and "30m1h" are more likely mistakes than what they would add up to.
        if (unit == std::end(units) || unit->scale_s >= last_scale_s) return std::nullopt;
        last_scale_s = unit->scale_s;
        total_s += part->first * unit->scale_s;
        text = part->second.substr(size);
    }
    constexpr double century_s = 100 * 365.25 * 86400;
    return total_s <= century_s ? std::optional(total_s) : std::nullopt;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    const auto part = number_and_unit(text);
    if (!part || part->first < 0) return std::nullopt;
    std::string_view unit = part->second;
    double scale = 1;
    static constexpr std::string_view letters = "KMGTP";
    if (!unit.empty() && letters.find(unit.front()) != std::string_view::npos) {
        const auto power = static_cast<double>(letters.find(unit.front()) + 1);
        unit.remove_prefix(1);
        scale = std::pow(unit == "B" ? 1000.0 : 1024.0, power);
        if (unit == "iB" || unit == "i" || unit == "B") unit = {};
    } else if (unit == "B") {
        unit = {};
    }
    const double value = part->first * scale;
    if (!unit.empty() || value >= 0x1p63) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(value));
}

std::string format_duration(double value_s) {
    if (!std::isfinite(value_s)) return "unknown";
    if (value_s < 60) return fmt::format("{:.1f} s", value_s);
    const auto whole_s = std::llround(value_s);
    if (whole_s < 3600) return fmt::format("{} min {:02} s", whole_s / 60, whole_s % 60);
    return fmt::format("{} h {:02} min", whole_s / 3600, whole_s % 3600 / 60);
}

std::string to_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

} // namespace tessera
