#include <tessera/base/text.hpp>
#include <tessera/campaign/campaign_parser.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tessera {

namespace {

const std::vector<std::string>& matrix_words() {
    static const std::vector<std::string> words = {"exclude", "include", "zip", "defaults"};
    return words;
}

void add_value(AxisSource& axis, Value value, Place place, Definition fields) {
    if (!fields.fields.empty()) axis.inline_fields.emplace(*value.get_if<std::string>(), std::move(fields));
    axis.values.push_back({std::move(value), place});
}

/// A value written as a table: { name = "small", width = 64 }.
void add_named_table(AxisSource& axis, const TomlNode& table, const std::string& what, Problems& problems) {
    const TomlEntry* name = table.find("name");
    if (name == nullptr || name->node.string() == nullptr) {
        problems.add(table.place,
                     fmt::format("{} is a table and needs a name: {{ name = \"...\", ... }}", what));
        return;
    }
    Definition fields = parse_definition(table, what, problems);
    add_value(axis, Value(*name->node.string()), table.place, std::move(fields));
}

AxisSource parse_axis(const TomlEntry& entry, Problems& problems) {
    AxisSource axis{entry.key, entry.place, {}, {}};
    const std::string what = "matrix." + entry.key;
    if (entry.node.is_table()) {
        for (const TomlEntry& value : entry.node.entries) {
            if (value.node.is_table())
                add_value(axis, Value(value.key), value.place,
                          parse_definition(value.node, fmt::format("{}.{}", what, value.key), problems));
            else
                problems.add(value.node.place, fmt::format("{}.{} must be a table of fields, not {}", what,
                                                           value.key, value.node.kind_text()));
        }
        return axis;
    }
    for (const TomlNode& item : entry.node.items) {
        const std::string name = fmt::format("{}[{}]", what, &item - entry.node.items.data());
        if (item.is_table())
            add_named_table(axis, item, name, problems);
        else if (auto value = parse_plain_value(item, false, name, problems))
            axis.values.push_back({std::move(*value), item.place});
    }
    return axis;
}

void check_duplicates(const AxisSource& axis, Problems& problems) {
    std::unordered_map<std::string, Place> seen;
    for (const PlacedValue& value : axis.values) {
        // 0.0 and -0.0 are equal but encoded apart.
        const bool zero = value.value == Value(0.0);
        const auto [first, is_new] =
            seen.emplace(zero ? Value(0.0).canonical() : value.value.canonical(), value.place);
        if (!is_new)
            problems.add(value.place, fmt::format("axis '{}' has the value {} twice (first in line {})",
                                                  axis.name, quoted(value.value), first->second.line));
    }
}

/// Every string value must have a definition if the axis has any.
void check_definitions(const AxisSource& axis, const Campaign& campaign, Problems& problems) {
    const auto found = campaign.definitions.find(axis.name);
    if (found == campaign.definitions.end()) return;
    const DefinitionSet& set = found->second;
    if (!axis.inline_fields.empty())
        problems.add(axis.place,
                     fmt::format("the values of axis '{}' are defined here and in [{}]: choose one",
                                 axis.name, set.section));
    else
        for (const PlacedValue& value : axis.values)
            check_defined(set, value, axis.name, problems);
}

void parse_axes(const TomlNode& section, Campaign& campaign, Names& names, Problems& problems) {
    for (const TomlEntry& entry : section.entries) {
        const auto& words = matrix_words();
        if (std::find(words.begin(), words.end(), entry.key) != words.end()) continue;
        const bool only_tables =
            entry.node.is_array() && !entry.node.items.empty() &&
            std::all_of(entry.node.items.begin(), entry.node.items.end(),
                        [](const TomlNode& item) { return item.is_table() && item.find("name") == nullptr; });
        if ((only_tables || entry.node.is_table()) && closest(entry.key, words)) {
            problems.add(entry.place, fmt::format("unknown key '{}' in [matrix]{}", entry.key,
                                                  did_you_mean(entry.key, words)));
            continue;
        }
        if (!names.declare(entry.key, "axis", entry.place) && only_tables) continue;
        if (entry.node.is_scalar()) {
            problems.add(entry.node.place, fmt::format("matrix.{} must be an array of values: write [{}]",
                                                       entry.key, quoted(entry.node.scalar)));
            continue;
        }
        AxisSource axis = parse_axis(entry, problems);
        const bool empty = entry.node.items.empty() && entry.node.entries.empty();
        if (empty) problems.add(entry.place, fmt::format("axis '{}' has no values", entry.key));
        check_duplicates(axis, problems);
        check_definitions(axis, campaign, problems);
        campaign.matrix.axes.push_back(std::move(axis));
    }
}

void parse_zips(const TomlEntry* entry, MatrixSource& matrix, Problems& problems) {
    if (entry == nullptr) return;
    std::vector<std::string> axis_names;
    for (const AxisSource& axis : matrix.axes)
        axis_names.push_back(axis.name);
    std::vector<std::string> zipped;
    for (const TomlNode& item : entry->node.items) {
        if (!item.is_table()) {
            problems.add(item.place,
                         "matrix.zip holds tables: write [[matrix.zip]] and axes = [\"a\", \"b\"]");
            continue;
        }
        TableReader reader(item, "[[matrix.zip]]", problems);
        ZipRule rule{{}, item.place};
        std::size_t length = 0;
        for (const PlacedText& name : reader.strings("axes")) {
            const auto axis = std::find_if(matrix.axes.begin(), matrix.axes.end(),
                                           [&](const AxisSource& a) { return a.name == name.text; });
            if (axis == matrix.axes.end()) {
                problems.add(name.place, fmt::format("matrix.zip: there is no axis '{}'{}", name.text,
                                                     did_you_mean(name.text, axis_names)));
                continue;
            }
            if (std::find(zipped.begin(), zipped.end(), name.text) != zipped.end())
                problems.add(name.place, fmt::format("matrix.zip: axis '{}' is already zipped", name.text));
            if (rule.axes.empty())
                length = axis->values.size();
            else if (axis->values.size() != length)
                problems.add(name.place,
                             fmt::format("matrix.zip: axis '{}' has {} values but '{}' has {}", name.text,
                                         axis->values.size(), rule.axes.front(), length));
            zipped.push_back(name.text);
            rule.axes.push_back(name.text);
        }
        if (rule.axes.size() < 2 && item.find("axes") == nullptr)
            problems.add(item.place, "[[matrix.zip]] needs axes = [\"a\", \"b\"]");
        reader.finish();
        matrix.zips.push_back(std::move(rule));
    }
}

void parse_defaults(const TomlEntry* entry, Campaign& campaign, Problems& problems) {
    if (entry == nullptr) return;
    const std::vector<std::string> names = axis_names(campaign.matrix);
    for (const TomlEntry& item : entry->node.entries) {
        if (std::find(names.begin(), names.end(), item.key) == names.end()) {
            problems.add(item.place, fmt::format("matrix.defaults: there is no axis '{}'{}", item.key,
                                                 did_you_mean(item.key, names)));
            continue;
        }
        auto value = parse_plain_value(item.node, false, "matrix.defaults." + item.key, problems);
        if (!value) continue;
        PlacedValue placed{std::move(*value), item.node.place};
        if (const auto set = campaign.definitions.find(item.key); set != campaign.definitions.end())
            check_defined(set->second, placed, item.key, problems);
        campaign.matrix.defaults.emplace(item.key, std::move(placed));
    }
}

void check_axis_names(const std::vector<PlacedValue>& listed, std::string_view key, const Campaign& campaign,
                      Problems& problems) {
    const std::vector<std::string> names = axis_names(campaign.matrix);
    for (const PlacedValue& name : listed) {
        const std::string text = name.value.display();
        const std::string axis = text.substr(0, text.find('.'));
        if (std::find(names.begin(), names.end(), axis) == names.end())
            problems.add(name.place, fmt::format("campaign.{}: there is no axis '{}'{}", key, axis,
                                                 did_you_mean(axis, names)));
    }
}

} // namespace

std::vector<std::string> axis_names(const MatrixSource& matrix) {
    std::vector<std::string> names;
    for (const AxisSource& axis : matrix.axes)
        names.push_back(axis.name);
    for (const IncludeRule& rule : matrix.includes)
        for (const auto& [name, value] : rule.values)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

void check_defined(const DefinitionSet& set, const PlacedValue& value, std::string_view axis,
                   Problems& problems) {
    const auto* name = value.value.get_if<std::string>();
    if (name != nullptr && set.values.find(*name) != set.values.end()) return;
    std::vector<std::string> defined;
    for (const auto& [key, definition] : set.values)
        defined.push_back(key);
    problems.add(value.place, fmt::format("axis '{}': {} is not defined in [{}]{}", axis, quoted(value.value),
                                          set.section, did_you_mean(value.value.display(), defined)));
}

void parse_matrix(TableReader& root, Campaign& campaign, Names& names, Problems& problems) {
    const TomlEntry* section = root.take_table("matrix");
    if (section != nullptr) {
        campaign.matrix.place = section->place;
        TableReader reader(section->node, "[matrix]", problems);
        const TomlEntry* excludes = reader.take_array("exclude");
        const TomlEntry* includes = reader.take_array("include");
        const TomlEntry* zips = reader.take_array("zip");
        const TomlEntry* defaults = reader.take_table("defaults");
        parse_axes(section->node, campaign, names, problems);
        parse_rules(excludes, includes, campaign, names, problems);
        parse_zips(zips, campaign.matrix, problems);
        parse_defaults(defaults, campaign, problems);
    }
    const std::vector<std::string> known = axis_names(campaign.matrix);
    for (const auto& [axis, set] : campaign.definitions)
        if (set.section.starts_with("define.") && std::find(known.begin(), known.end(), axis) == known.end())
            problems.add(set.place,
                         fmt::format("[{}] defines values of an axis that [matrix] does not have{}",
                                     set.section, did_you_mean(axis, known)));
    check_axis_names(campaign.labels, "labels", campaign, problems);
    check_axis_names(campaign.machine, "machine", campaign, problems);
}

} // namespace tessera
