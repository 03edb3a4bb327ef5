#include <tessera/base/text.hpp>
#include <tessera/campaign/campaign_parser.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tessera {

namespace {

/// Sections that define the values of the axis beside them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> fixed_sections{
    {{"models", "model"},
     {"precisions", "precision"},
     {"tasks", "task"},
     {"finetunings", "finetuning"},
     {"accelerators", "accelerator"}}};

bool is_field_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    });
}

void require_string(const Definition& definition, std::string_view field, const std::string& what,
                    Problems& problems) {
    const PlacedValue* value = definition.find(field);
    if (value == nullptr) return;
    const auto* text = value->value.get_if<std::string>();
    if (text == nullptr)
        problems.add(value->place,
                     fmt::format("{}.{} must be a string, not {}", what, field, value->value.type_name()));
    else if (text->empty())
        problems.add(value->place, fmt::format("{}.{} is empty", what, field));
}

void check_accelerator(const Definition& definition, const std::string& what, Problems& problems) {
    if (const PlacedValue* executor = definition.find("executor")) {
        const auto* name = executor->value.get_if<std::string>();
        const auto& known = executor_names();
        if (name == nullptr || std::find(known.begin(), known.end(), *name) == known.end())
            problems.add(executor->place,
                         fmt::format("{}.executor cannot be '{}'{}: it is one of {}", what,
                                     executor->value.display(),
                                     did_you_mean(executor->value.display(), known), fmt::join(known, ", ")));
    }
    if (const PlacedValue* devices = definition.find("devices")) {
        const auto* count = devices->value.get_if<std::int64_t>();
        if (count == nullptr || *count < 0)
            problems.add(devices->place, fmt::format("{}.devices must be a number of devices, not {}", what,
                                                     devices->value.display()));
    }
}

void parse_set(const TomlEntry& section, const std::string& name, const std::string& axis, Campaign& campaign,
               Problems& problems) {
    DefinitionSet set;
    set.section = name;
    set.place = section.place;
    for (const TomlEntry& entry : section.node.entries) {
        const std::string what = fmt::format("{}.{}", name, entry.key);
        if (!entry.node.is_table()) {
            problems.add(entry.node.place,
                         fmt::format("{} must be a table of fields such as {{ path = \"...\" }}, not {}",
                                     what, entry.node.kind_text()));
            continue;
        }
        if (entry.key.empty()) problems.add(entry.place, fmt::format("{}: an empty name", name));
        Definition definition = parse_definition(entry.node, what, problems);
        definition.place = entry.place;
        if (axis == "accelerator") check_accelerator(definition, what, problems);
        set.values.emplace(entry.key, std::move(definition));
    }
    campaign.definitions.emplace(axis, std::move(set));
}

} // namespace

const PlacedValue* Definition::find(std::string_view field) const {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == field; });
    return found == fields.end() ? nullptr : &found->value;
}

std::string quoted(const Value& value) {
    return value.is<std::string>() ? fmt::format("\"{}\"", *value.get_if<std::string>()) : value.display();
}

std::optional<Value> parse_plain_value(const TomlNode& node, bool lists, const std::string& what,
                                       Problems& problems) {
    const auto value = node.is_scalar() || lists ? node.to_value() : std::nullopt;
    if (!value) {
        problems.add(node.place, fmt::format("{} must be a string, a number or a boolean{}, not {}", what,
                                             lists ? ", or a list of these" : "", node.kind_text()));
        return std::nullopt;
    }
    const auto is_nan = [](const Value& v) { return v.is<double>() && std::isnan(*v.get_if<double>()); };
    const auto* list = value->get_if<Value::Array>();
    if (is_nan(*value) || (list != nullptr && std::any_of(list->begin(), list->end(), is_nan))) {
        problems.add(node.place,
                     fmt::format("{} is not a number (nan), which equals nothing, not even itself", what));
        return std::nullopt;
    }
    return value;
}

Definition parse_definition(const TomlNode& table, const std::string& what, Problems& problems) {
    Definition definition;
    definition.place = table.place;
    for (const TomlEntry& entry : table.entries) {
        const std::string name = fmt::format("{}.{}", what, entry.key);
        if (!is_field_name(entry.key)) {
            problems.add(entry.place,
                         fmt::format("{}: use letters, digits, '_' and '-' in the name of a field", name));
            continue;
        }
        if (auto value = parse_plain_value(entry.node, true, name, problems))
            definition.fields.push_back({entry.key, {std::move(*value), entry.node.place}});
    }
    require_string(definition, "path", what, problems);
    require_string(definition, "revision", what, problems);
    return definition;
}

void parse_definitions(TableReader& root, Campaign& campaign, Problems& problems) {
    for (const auto& [section, axis] : fixed_sections)
        if (const TomlEntry* entry = root.take_table(section))
            parse_set(*entry, std::string(section), std::string(axis), campaign, problems);
    const TomlEntry* define = root.take_table("define");
    if (define == nullptr) return;
    for (const TomlEntry& entry : define->node.entries) {
        const std::string name = "define." + entry.key;
        if (!entry.node.is_table())
            problems.add(entry.node.place, fmt::format("{} must be a table of definitions, not {}", name,
                                                       entry.node.kind_text()));
        else if (const auto same = campaign.definitions.find(entry.key); same != campaign.definitions.end())
            problems.add(entry.place, fmt::format("the values of axis '{}' are already defined in [{}]",
                                                  entry.key, same->second.section));
        else
            parse_set(entry, name, entry.key, campaign, problems);
    }
}

} // namespace tessera
