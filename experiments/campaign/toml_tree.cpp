#include <tessera/base/text.hpp>
#include <tessera/campaign/toml_tree.hpp>

#include <algorithm>
#include <sstream>

// A bad character after the bracket of a header, as in "[$a]", breaks an assertion of toml++ 3.3, which
// aborts without NDEBUG and is undefined behaviour with it; without the assertion it reports the error as it
// should.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

namespace tessera {

namespace {

Place place_of(const toml::source_region& region) {
    return {region.begin.line, region.begin.column};
}

template <typename T>
Value as_text(const T& date) {
    std::ostringstream text;
    text << date;
    return Value(text.str());
}

Value scalar_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return Value(text->get());
    if (const auto* integer = node.as_integer()) return Value(integer->get());
    if (const auto* number = node.as_floating_point()) return Value(number->get());
    if (const auto* flag = node.as_boolean()) return Value(flag->get());
    if (const auto* date = node.as_date()) return as_text(date->get());
    if (const auto* time = node.as_time()) return as_text(time->get());
    return as_text(node.as_date_time()->get());
}

TomlNode convert(const toml::node& node) {
    TomlNode result;
    result.place = place_of(node.source());
    if (const auto* table = node.as_table()) {
        for (const auto& [key, child] : *table)
            result.entries.push_back({std::string(key.str()), place_of(key.source()), convert(child)});
        std::stable_sort(result.entries.begin(), result.entries.end(),
                         [](const TomlEntry& a, const TomlEntry& b) { return a.place < b.place; });
        // A table made by a dotted key or a header of a deeper table stands where its first key does.
        if (result.place.line == 0 && !result.entries.empty()) result.place = result.entries.front().place;
    } else if (const auto* array = node.as_array()) {
        result.kind = TomlNode::Kind::array;
        for (const toml::node& item : *array)
            result.items.push_back(convert(item));
    } else {
        result.kind = TomlNode::Kind::scalar;
        result.scalar = scalar_of(node);
    }
    return result;
}

Place place_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = lines == 0 ? 0 : before.rfind('\n') + 1;
    return {static_cast<std::uint32_t>(lines + 1), static_cast<std::uint32_t>(offset - line_start + 1)};
}

bool check_utf8(std::string_view text, Problems& problems) {
    const std::string repaired = repair_utf8(text);
    if (repaired == text) return true;
    const auto [bad, unused] = std::mismatch(text.begin(), text.end(), repaired.begin(), repaired.end());
    problems.add(place_at(text, static_cast<std::size_t>(bad - text.begin())),
                 "this is not UTF-8: save the file with that encoding");
    return false;
}

} // namespace

const TomlEntry* TomlNode::find(std::string_view key) const {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const TomlEntry& e) { return e.key == key; });
    return found == entries.end() ? nullptr : &*found;
}

std::string_view TomlNode::type_name() const {
    if (is_array()) return "array";
    return is_table() ? "table" : scalar.type_name();
}

std::string TomlNode::kind_text() const {
    const std::string_view name = type_name();
    return std::string(name.front() == 'a' || name.front() == 'i' ? "an " : "a ").append(name);
}

std::optional<Value> TomlNode::to_value() const {
    if (is_scalar()) return scalar;
    if (is_table()) return std::nullopt;
    Value::Array array;
    for (const TomlNode& item : items) {
        if (!item.is_scalar()) return std::nullopt;
        array.push_back(item.scalar);
    }
    return Value(std::move(array));
}

std::optional<TomlNode> parse_toml(std::string_view text, Problems& problems) {
    if (!check_utf8(text, problems)) return std::nullopt;
    try {
        return convert(toml::parse(text));
    } catch (const toml::parse_error& error) {
        problems.add(place_of(error.source()), std::string(error.description()));
        return std::nullopt;
    }
}

} // namespace tessera
