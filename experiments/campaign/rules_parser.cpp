#include <tessera/base/text.hpp>
#include <tessera/campaign/campaign_parser.hpp>
#include <tessera/campaign/expression.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tessera {

namespace {

using Relation = AxisCondition::Bound::Relation;

constexpr std::array<std::pair<std::string_view, Relation>, 4> relations{{{"lt", Relation::less},
                                                                          {"le", Relation::less_equal},
                                                                          {"gt", Relation::greater},
                                                                          {"ge", Relation::greater_equal}}};

bool is_glob(const Value& value) {
    const auto* text = value.get_if<std::string>();
    return text != nullptr && text->find('*') != std::string::npos;
}

std::optional<Relation> relation_of(std::string_view key) {
    for (const auto& [spelling, relation] : relations)
        if (spelling == key) return relation;
    return std::nullopt;
}

/// Conditions of one entry of a rule: `axis = ...` or `axis.field = ...`.
class ConditionParser {
public:
    ConditionParser(const Campaign& campaign, std::string rule, Problems& problems)
        : campaign_(&campaign)
        , rule_(std::move(rule))
        , problems_(&problems) {}

    void parse(const AxisSource& axis, const std::string& field, const TomlEntry& entry,
               std::vector<AxisCondition>& out) {
        if (!field.empty()) check_field(axis, field, entry.place);
        AxisCondition condition{axis.name, field, {}, {}, entry.place};
        const std::string what =
            fmt::format("{}.{}", rule_, field.empty() ? axis.name : axis.name + "." + field);
        if (entry.node.is_table()) {
            const auto& keys = entry.node.entries;
            const bool compares = std::any_of(
                keys.begin(), keys.end(), [](const TomlEntry& e) { return relation_of(e.key).has_value(); });
            if (compares || !field.empty() || keys.empty())
                parse_bounds(entry, what, condition);
            else
                for (const TomlEntry& inner : keys)
                    parse(axis, inner.key, inner, out);
            if (!compares) return;
        } else if (entry.node.is_array()) {
            if (entry.node.items.empty())
                problems_->add(entry.node.place, what + " is an empty list: it matches nothing");
            for (const TomlNode& item : entry.node.items)
                add_value(item, what, condition);
        } else {
            add_value(entry.node, what, condition);
        }
        out.push_back(std::move(condition));
    }

private:
    void add_value(const TomlNode& node, const std::string& what, AxisCondition& condition) {
        if (auto value = parse_plain_value(node, false, what, *problems_))
            condition.any_of.push_back({std::move(*value), node.place});
    }

    void parse_bounds(const TomlEntry& entry, const std::string& what, AxisCondition& condition) {
        if (entry.node.entries.empty()) problems_->add(entry.node.place, what + " is an empty table");
        for (const TomlEntry& item : entry.node.entries) {
            const auto relation = relation_of(item.key);
            if (!relation) {
                static const std::vector<std::string> known = {"lt", "le", "gt", "ge"};
                problems_->add(item.place,
                               fmt::format("{}: '{}' is no comparison{}: it is one of lt, le, gt, ge", what,
                                           item.key, did_you_mean(item.key, known)));
            } else if (auto limit = parse_plain_value(item.node, false, what + "." + item.key, *problems_)) {
                condition.bounds.push_back({*relation, {std::move(*limit), item.node.place}});
            }
        }
    }

    void check_field(const AxisSource& axis, const std::string& field, Place place) {
        std::vector<std::string> fields;
        const auto collect = [&](const std::map<std::string, Definition, std::less<>>& definitions) {
            for (const auto& [name, definition] : definitions)
                for (const auto& known : definition.fields)
                    fields.push_back(known.name);
        };
        collect(axis.inline_fields);
        if (const auto set = campaign_->definitions.find(axis.name); set != campaign_->definitions.end())
            collect(set->second.values);
        if (std::find(fields.begin(), fields.end(), field) == fields.end())
            problems_->add(place, fmt::format("{}: no value of axis '{}' has a field '{}'{}", rule_,
                                              axis.name, field, did_you_mean(field, fields)));
    }

    const Campaign* campaign_;
    std::string rule_;
    Problems* problems_;
};

const AxisSource* find_axis(const MatrixSource& matrix, std::string_view name) {
    const auto found = std::find_if(matrix.axes.begin(), matrix.axes.end(),
                                    [&](const AxisSource& axis) { return axis.name == name; });
    return found == matrix.axes.end() ? nullptr : &*found;
}

std::pair<std::string, std::string> axis_and_field(const std::string& key) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) return {key, {}};
    return {key.substr(0, dot), key.substr(dot + 1)};
}

std::vector<std::string> value_texts(const AxisSource& axis) {
    std::vector<std::string> texts;
    for (const PlacedValue& value : axis.values)
        texts.push_back(value.value.display());
    return texts;
}

/// A plain value that its axis does not have is most likely misspelt, and the cell it meant would run.
void check_values_exist(const std::vector<AxisCondition>& conditions, const MatrixSource& matrix,
                        Problems& problems) {
    for (const AxisCondition& condition : conditions) {
        if (!condition.field.empty()) continue;
        const AxisSource* axis = find_axis(matrix, condition.axis);
        for (const PlacedValue& wanted : condition.any_of) {
            const bool exists =
                std::any_of(axis->values.begin(), axis->values.end(),
                            [&](const PlacedValue& value) { return value.value == wanted.value; });
            if (!exists && !is_glob(wanted.value))
                problems.add(wanted.place,
                             fmt::format("matrix.exclude: axis '{}' has no value {}{}", condition.axis,
                                         quoted(wanted.value),
                                         did_you_mean(wanted.value.display(), value_texts(*axis))));
        }
    }
}

void parse_exclude(const TomlNode& table, Campaign& campaign, Problems& problems) {
    ExcludeRule rule{{}, table.place};
    ConditionParser parser(campaign, "matrix.exclude", problems);
    for (const TomlEntry& entry : table.entries) {
        const auto [name, field] = axis_and_field(entry.key);
        const AxisSource* axis = find_axis(campaign.matrix, name);
        if (axis != nullptr)
            parser.parse(*axis, field, entry, rule.conditions);
        else
            problems.add(entry.place, fmt::format("matrix.exclude: there is no axis '{}'{}", name,
                                                  did_you_mean(name, axis_names(campaign.matrix))));
    }
    if (table.entries.empty())
        problems.add(table.place, "[[matrix.exclude]] is empty: it would exclude every cell");
    check_values_exist(rule.conditions, campaign.matrix, problems);
    campaign.matrix.excludes.push_back(std::move(rule));
}

void check_added_values(const IncludeRule& rule, const Campaign& campaign, Problems& problems) {
    const auto check = [&](const std::string& axis, const PlacedValue& value) {
        const auto set = campaign.definitions.find(axis);
        if (set != campaign.definitions.end() && !is_glob(value.value))
            check_defined(set->second, value, axis, problems);
    };
    for (const AxisCondition& condition : rule.conditions)
        if (condition.field.empty())
            for (const PlacedValue& value : condition.any_of)
                check(condition.axis, value);
    for (const auto& [axis, value] : rule.values)
        check(axis, value);
}

void parse_include(const TomlNode& table, Campaign& campaign, Names& names, Problems& problems) {
    IncludeRule rule{{}, {}, table.place};
    ConditionParser parser(campaign, "matrix.include", problems);
    const std::vector<std::string> known = axis_names(campaign.matrix);
    for (const TomlEntry& entry : table.entries) {
        const auto [name, field] = axis_and_field(entry.key);
        if (const AxisSource* axis = find_axis(campaign.matrix, name)) {
            parser.parse(*axis, field, entry, rule.conditions);
            continue;
        }
        if (!field.empty()) {
            problems.add(entry.place, fmt::format("matrix.include: there is no axis '{}'{}", name,
                                                  did_you_mean(name, known)));
            continue;
        }
        if (std::find(known.begin(), known.end(), name) == known.end())
            names.declare(name, "axis", entry.place);
        auto value = parse_plain_value(entry.node, false, "matrix.include." + entry.key, problems);
        if (value) rule.values.emplace_back(name, PlacedValue{std::move(*value), entry.node.place});
    }
    if (table.entries.empty()) problems.add(table.place, "[[matrix.include]] is empty");
    check_added_values(rule, campaign, problems);
    campaign.matrix.includes.push_back(std::move(rule));
}

} // namespace

bool AxisCondition::matches(const Value* value) const {
    if (value == nullptr) return false;
    const auto equal = [&](const PlacedValue& wanted) {
        if (!is_glob(wanted.value)) return wanted.value == *value;
        const auto* text = value->get_if<std::string>();
        return text != nullptr && glob_match(*wanted.value.get_if<std::string>(), *text);
    };
    const auto within = [&](const Bound& bound) {
        const auto order = compare_values(*value, bound.limit.value);
        if (!order) return false;
        if (bound.relation == Relation::less) return *order < 0;
        if (bound.relation == Relation::less_equal) return *order <= 0;
        return bound.relation == Relation::greater ? *order > 0 : *order >= 0;
    };
    if (!bounds.empty()) return std::all_of(bounds.begin(), bounds.end(), within);
    return std::any_of(any_of.begin(), any_of.end(), equal);
}

bool AxisCondition::is_plain_value() const {
    return field.empty() && bounds.empty() && any_of.size() == 1 && !is_glob(any_of.front().value);
}

void parse_rules(const TomlEntry* excludes, const TomlEntry* includes, Campaign& campaign, Names& names,
                 Problems& problems) {
    const auto each = [&](const TomlEntry* rules, std::string_view what, auto&& parse) {
        if (rules == nullptr) return;
        for (const TomlNode& item : rules->node.items) {
            if (item.is_table())
                parse(item);
            else
                problems.add(item.place,
                             fmt::format("{} holds tables: write [[{}]] and axis = value", what, what));
        }
    };
    each(excludes, "matrix.exclude", [&](const TomlNode& t) { parse_exclude(t, campaign, problems); });
    each(includes, "matrix.include", [&](const TomlNode& t) { parse_include(t, campaign, names, problems); });
}

} // namespace tessera
