#include <tessera/campaign/template.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace tessera {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void append_text(TextTemplate& parsed, std::string_view text) {
    if (text.empty()) return;
    if (parsed.pieces.empty() || !parsed.pieces.back().is_text()) parsed.pieces.emplace_back();
    parsed.pieces.back().text += text;
}

/// Fields may hold dashes, names may not.
bool is_placeholder(const Placeholder& placeholder) {
    const auto in_field = [](char c) { return is_letter(c) || is_digit(c) || c == '-'; };
    return is_identifier(placeholder.name) &&
           std::all_of(placeholder.field.begin(), placeholder.field.end(), in_field);
}

} // namespace

bool is_identifier(std::string_view text) {
    return !text.empty() && is_letter(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

TextTemplate parse_template(std::string_view text, Place place, std::string what, Problems& problems) {
    TextTemplate parsed;
    parsed.place = place;
    parsed.what = std::move(what);
    while (!text.empty()) {
        const std::size_t start = text.find("${");
        if (start == std::string_view::npos) break;
        if (start > 0 && text[start - 1] == '$') {
            append_text(parsed, text.substr(0, start - 1));
            append_text(parsed, "${");
            text.remove_prefix(start + 2);
            continue;
        }
        append_text(parsed, text.substr(0, start));
        text.remove_prefix(start);
        const std::size_t end = text.find('}');
        if (end == std::string_view::npos) {
            problems.add(place,
                         fmt::format("{}: '{}' has no closing brace; a literal '${{' is written '$${{'",
                                     parsed.what, text));
            return parsed;
        }
        const std::string_view inside = text.substr(2, end - 2);
        const std::size_t dot = inside.find('.');
        Placeholder placeholder{std::string(inside.substr(0, dot)), {}};
        if (dot != std::string_view::npos) placeholder.field = inside.substr(dot + 1);
        const bool empty_field = dot == inside.size() - 1;
        if (!is_placeholder(placeholder) || empty_field)
            problems.add(
                place, fmt::format("{}: '${{{}}}' is no placeholder: write ${{axis}} or ${{axis.field}}, or "
                                   "'$${{' for a literal '${{'",
                                   parsed.what, inside));
        else
            parsed.pieces.push_back({{}, std::move(placeholder)});
        text.remove_prefix(end + 1);
    }
    append_text(parsed, text);
    return parsed;
}

} // namespace tessera
