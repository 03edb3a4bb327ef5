#include <tessera/base/text.hpp>
#include <tessera/campaign/table_reader.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tessera {

std::string as_string_hint(const TomlNode& node) {
    if (!node.is_scalar() || node.string() != nullptr) return {};
    return fmt::format(": write \"{}\"", node.scalar.display());
}

std::string TableReader::name_of(std::string_view key) const {
    if (what_.empty()) return std::string(key);
    return fmt::format("{}.{}", std::string_view(what_).substr(1, what_.size() - 2), key);
}

const TomlEntry* TableReader::take(std::string_view key) {
    known_.emplace_back(key);
    return table_->find(key);
}

void TableReader::wrong_type(const TomlEntry& entry, std::string_view wanted) {
    const std::string hint = wanted == "a string" ? as_string_hint(entry.node) : std::string();
    problems_->add(entry.node.place, fmt::format("{} must be {}, not {}{}", name_of(entry.key), wanted,
                                                 entry.node.kind_text(), hint));
}

const TomlEntry* TableReader::take_table(std::string_view key) {
    const TomlEntry* entry = take(key);
    if (entry == nullptr || entry->node.is_table()) return entry;
    wrong_type(*entry, "a table");
    return nullptr;
}

const TomlEntry* TableReader::take_array(std::string_view key) {
    const TomlEntry* entry = take(key);
    if (entry == nullptr || entry->node.is_array()) return entry;
    wrong_type(*entry, "an array");
    return nullptr;
}

std::optional<PlacedText> TableReader::string(std::string_view key) {
    const TomlEntry* entry = take(key);
    if (entry == nullptr) return std::nullopt;
    if (const std::string* text = entry->node.string()) return PlacedText{*text, entry->node.place};
    wrong_type(*entry, "a string");
    return std::nullopt;
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t least,
                                                 std::int64_t most) {
    const TomlEntry* entry = take(key);
    if (entry == nullptr) return std::nullopt;
    const auto* value = entry->node.is_scalar() ? entry->node.scalar.get_if<std::int64_t>() : nullptr;
    if (value == nullptr) {
        wrong_type(*entry, "an integer");
        return std::nullopt;
    }
    if (*value >= least && *value <= most) return *value;
    const std::string bound =
        *value < least ? fmt::format("at least {}", least) : fmt::format("at most {}", most);
    problems_->add(entry->node.place, fmt::format("{} must be {}, not {}", name_of(key), bound, *value));
    return std::nullopt;
}

std::optional<double> TableReader::duration_s(std::string_view key) {
    const TomlEntry* entry = take(key);
    if (entry == nullptr) return std::nullopt;
    std::optional<double> value_s;
    if (const std::string* text = entry->node.string())
        value_s = parse_duration_s(*text);
    else if (entry->node.is_scalar() && entry->node.scalar.is_number())
        value_s = parse_duration_s(entry->node.scalar.display());
    if (!value_s)
        problems_->add(
            entry->node.place,
            fmt::format("{} must be a duration such as \"90s\", \"10m\" or \"1h30m\"", name_of(key)));
    return value_s;
}

std::optional<std::size_t> TableReader::choice(std::string_view key,
                                               const std::vector<std::string>& choices) {
    const auto text = string(key);
    if (!text) return std::nullopt;
    const auto found = std::find(choices.begin(), choices.end(), text->text);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    problems_->add(text->place, fmt::format("{} cannot be '{}'{}: it is one of {}", name_of(key), text->text,
                                            did_you_mean(text->text, choices), fmt::join(choices, ", ")));
    return std::nullopt;
}

std::vector<PlacedText> TableReader::strings(std::string_view key) {
    std::vector<PlacedText> texts;
    const TomlEntry* entry = take_array(key);
    if (entry == nullptr) return texts;
    for (const TomlNode& item : entry->node.items) {
        if (const std::string* text = item.string())
            texts.push_back({*text, item.place});
        else
            problems_->add(item.place, fmt::format("{}[{}] must be a string, not {}{}", name_of(key),
                                                   &item - entry->node.items.data(), item.kind_text(),
                                                   as_string_hint(item)));
    }
    return texts;
}

std::optional<TextTemplate> TableReader::text(std::string_view key) {
    const auto raw = string(key);
    if (!raw) return std::nullopt;
    return parse_template(raw->text, raw->place, name_of(key), *problems_);
}

std::vector<TextTemplate> TableReader::texts(std::string_view key) {
    std::vector<TextTemplate> templates;
    for (const PlacedText& raw : strings(key))
        templates.push_back(parse_template(
            raw.text, raw.place, fmt::format("{}[{}]", name_of(key), templates.size()), *problems_));
    return templates;
}

void TableReader::finish() {
    const std::string where = what_.empty() ? std::string() : " in " + what_;
    for (const TomlEntry& entry : table_->entries) {
        if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
        const std::string_view kind = what_.empty() && !entry.node.is_scalar() ? "section" : "key";
        problems_->add(entry.place, fmt::format("unknown {} '{}'{}{}", kind, entry.key, where,
                                                did_you_mean(entry.key, known_)));
    }
}

} // namespace tessera
