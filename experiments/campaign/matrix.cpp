#include <tessera/campaign/campaign_parser.hpp>
#include <tessera/campaign/matrix.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace tessera {

namespace {

Definition definition_of(const Campaign& campaign, const AxisSource* source, const std::string& axis,
                         const Value& value) {
    const auto* name = value.get_if<std::string>();
    if (name == nullptr) return {};
    if (source != nullptr)
        if (const auto found = source->inline_fields.find(*name); found != source->inline_fields.end())
            return found->second;
    if (const auto set = campaign.definitions.find(axis); set != campaign.definitions.end())
        if (const auto found = set->second.values.find(*name); found != set->second.values.end())
            return found->second;
    return {};
}

const AxisSource* find_source(const Campaign& campaign, std::string_view name) {
    for (const AxisSource& source : campaign.matrix.axes)
        if (source.name == name) return &source;
    return nullptr;
}

bool holds(const AxisCondition& condition, const Axis& axis, std::uint32_t code) {
    if (code == 0) return false;
    const AxisValue& value = axis.values[code - 1];
    if (condition.field.empty()) return condition.matches(&value.value);
    const PlacedValue* field = value.definition.find(condition.field);
    return condition.matches(field != nullptr ? &field->value : nullptr);
}

/// Conditions of a rule with their truth for each code of their axis.
class CompiledRule {
public:
    CompiledRule(const std::vector<AxisCondition>& conditions, const Matrix& matrix) {
        for (const AxisCondition& condition : conditions) {
            const std::size_t axis = matrix.find_axis(condition.axis);
            Column column{axis, {}};
            for (std::uint32_t code = 0; code <= matrix.axes()[axis].values.size(); ++code)
                column.truth.push_back(holds(condition, matrix.axes()[axis], code));
            columns_.push_back(std::move(column));
        }
    }

    template <typename CodeOf>
    bool matches(CodeOf&& code_of) const {
        return std::all_of(columns_.begin(), columns_.end(),
                           [&](const Column& column) { return column.truth[code_of(column.axis)]; });
    }

private:
    struct Column {
        std::size_t axis;
        std::vector<bool> truth;
    };

    std::vector<Column> columns_;
};

} // namespace

std::string Axis::type() const {
    std::string type;
    for (const AxisValue& value : values) {
        if (type.empty())
            type = value.value.type_name();
        else if (type != value.value.type_name())
            return "mixed";
    }
    return type;
}

Matrix::Matrix(const Campaign& campaign, Problems& problems, Problems& warnings) {
    add_axes(campaign);
    if (!add_dimensions(campaign, problems)) return;
    exclude(campaign, warnings);
    extension_codes_.resize(axes_.size());
    for (const IncludeRule& rule : campaign.matrix.includes)
        include(rule, campaign, problems);
    check_added(problems);
    const std::uint64_t points = std::uint64_t{product_count_} + added_.size();
    if (points == 0) problems.add(campaign.matrix.place, "the matrix has no cells: all of them are excluded");
    if (points > max_cells / campaign.repeats)
        problems.add(campaign.matrix.place, fmt::format("the campaign has more than {} cells", max_cells));
}

void Matrix::add_axes(const Campaign& campaign) {
    const auto listed = [](const std::vector<PlacedValue>& list, const std::string& name) {
        return std::any_of(list.begin(), list.end(),
                           [&](const PlacedValue& v) { return v.value == Value(name); });
    };
    for (const std::string& name : axis_names(campaign.matrix)) {
        Axis axis;
        axis.name = name;
        axis.label = listed(campaign.labels, name);
        axis.machine = listed(campaign.machine, name);
        const AxisSource* source = find_source(campaign, name);
        if (source != nullptr) {
            axis.place = source->place;
            for (const PlacedValue& value : source->values)
                axis.values.push_back({value.value, definition_of(campaign, source, name, value.value)});
        }
        axes_.push_back(std::move(axis));
    }
    for (const auto& [name, value] : campaign.matrix.defaults) {
        const std::size_t axis = find_axis(name);
        axes_[axis].default_code = code_of(axis, value.value, campaign);
    }
}

/// The code of a value, which is added if the axis does not have it yet.
std::uint32_t Matrix::code_of(std::size_t axis, const Value& value, const Campaign& campaign) {
    std::vector<AxisValue>& values = axes_[axis].values;
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const AxisValue& v) { return v.value == value; });
    if (found != values.end()) return static_cast<std::uint32_t>(found - values.begin() + 1);
    const std::string& name = axes_[axis].name;
    values.push_back({value, definition_of(campaign, find_source(campaign, name), name, value)});
    return static_cast<std::uint32_t>(values.size());
}

bool Matrix::add_dimensions(const Campaign& campaign, Problems& problems) {
    dimension_of_axis_.assign(axes_.size(), no_dimension);
    for (std::size_t i = 0; i < campaign.matrix.axes.size(); ++i) {
        if (dimension_of_axis_[i] != no_dimension) continue;
        const AxisSource& source = campaign.matrix.axes[i];
        dimension_of_axis_[i] = dimensions_.size();
        for (const ZipRule& zip : campaign.matrix.zips)
            if (std::find(zip.axes.begin(), zip.axes.end(), source.name) != zip.axes.end())
                for (const std::string& other : zip.axes)
                    dimension_of_axis_[find_axis(other)] = dimensions_.size();
        dimensions_.push_back({static_cast<std::uint32_t>(source.values.size()), 1});
    }
    std::uint64_t total = 1;
    for (auto dimension = dimensions_.rbegin(); dimension != dimensions_.rend(); ++dimension) {
        dimension->stride = static_cast<std::uint32_t>(total);
        if (total > max_cells / dimension->size / campaign.repeats) {
            problems.add(
                campaign.matrix.place,
                fmt::format("the campaign has more than {} cells: axes, or repeats, have too many values",
                            max_cells));
            return false;
        }
        total *= dimension->size;
    }
    product_count_ = static_cast<PointIndex>(total);
    return true;
}

void Matrix::exclude(const Campaign& campaign, Problems& warnings) {
    const auto& rules = campaign.matrix.excludes;
    if (rules.empty()) return;
    std::vector<CompiledRule> compiled;
    for (const ExcludeRule& rule : rules)
        compiled.emplace_back(rule.conditions, *this);
    std::vector<bool> used(rules.size(), false);
    std::vector<std::uint32_t> kept;
    for (PointIndex point = 0; point < product_count_; ++point) {
        bool excluded = false;
        for (std::size_t i = 0; i < compiled.size(); ++i) {
            if (!compiled[i].matches([&](std::size_t axis) { return code(point, axis); })) continue;
            excluded = true;
            used[i] = true;
        }
        if (!excluded) kept.push_back(point);
    }
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (!used[i]) warnings.add(rules[i].place, "this exclude matches no cell");
    excluded_count_ = product_count_ - kept.size();
    if (excluded_count_ == 0) return;
    filtered_ = true;
    product_count_ = static_cast<PointIndex>(kept.size());
    kept_ = std::move(kept);
}

void Matrix::include(const IncludeRule& rule, const Campaign& campaign, Problems& problems) {
    std::vector<std::pair<std::size_t, std::uint32_t>> set;
    for (const auto& [name, value] : rule.values) {
        const std::size_t axis = find_axis(name);
        set.emplace_back(axis, code_of(axis, value.value, campaign));
    }
    bool extended = false;
    if (!set.empty()) {
        const CompiledRule selects(rule.conditions, *this);
        for (PointIndex point = 0; point < point_count(); ++point) {
            if (!selects.matches([&](std::size_t axis) { return code(point, axis); })) continue;
            extended = true;
            for (const auto& [axis, code] : set)
                set_code(point, axis, code);
        }
    }
    if (extended) return;
    for (const AxisCondition& condition : rule.conditions) {
        if (condition.is_plain_value()) continue;
        problems.add(
            condition.place,
            set.empty()
                ? "an include that adds a cell names one value of each axis, without '*', lists or fields"
                : "this include matches no cell, and cannot add one without a plain value here");
        return;
    }
    std::vector<std::uint32_t> codes;
    for (const Axis& axis : axes_)
        codes.push_back(axis.default_code);
    for (const AxisCondition& condition : rule.conditions) {
        const std::size_t axis = find_axis(condition.axis);
        codes[axis] = code_of(axis, condition.any_of.front().value, campaign);
    }
    for (const auto& [axis, code] : set)
        codes[axis] = code;
    added_.push_back(std::move(codes));
    added_places_.push_back(rule.place);
}

void Matrix::set_code(PointIndex point, std::size_t axis, std::uint32_t code) {
    if (point >= product_count_) {
        added_[point - product_count_][axis] = code;
        return;
    }
    auto& column = extension_codes_[axis];
    if (column.empty()) column.assign(product_count_, axes_[axis].default_code);
    column[point] = code;
}

void Matrix::check_added(Problems& problems) const {
    std::set<std::vector<std::uint32_t>> seen;
    std::vector<std::uint32_t> other;
    for (std::size_t i = 0; i < added_.size(); ++i) {
        bool duplicate = !seen.insert(added_[i]).second;
        if (const auto point = find_in_product(added_[i])) {
            codes(*point, other);
            duplicate = duplicate || other == added_[i];
        }
        if (duplicate)
            problems.add(added_places_[i],
                         fmt::format("this include adds a cell that the matrix already has: {}",
                                     describe(product_count_ + static_cast<PointIndex>(i))));
    }
}

/// The point of the product with these codes on its own axes, if it is there and not excluded.
std::optional<PointIndex> Matrix::find_in_product(const std::vector<std::uint32_t>& codes) const {
    std::uint32_t number = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        std::optional<std::uint32_t> code;
        for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
            if (dimension_of_axis_[axis] != d) continue;
            if (codes[axis] == 0 || codes[axis] > dimensions_[d].size || (code && *code != codes[axis]))
                return std::nullopt;
            code = codes[axis];
        }
        number += (*code - 1) * dimensions_[d].stride;
    }
    if (!filtered_) return number;
    const auto found = std::lower_bound(kept_.begin(), kept_.end(), number);
    if (found == kept_.end() || *found != number) return std::nullopt;
    return static_cast<PointIndex>(found - kept_.begin());
}

std::string Matrix::describe(PointIndex point) const {
    std::string text;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        const std::uint32_t c = code(point, axis);
        if (c == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} = {}", axes_[axis].name, quoted(axes_[axis].values[c - 1].value));
    }
    return text;
}

std::uint32_t Matrix::code(PointIndex point, std::size_t axis) const {
    if (point >= product_count_) return added_[point - product_count_][axis];
    if (dimension_of_axis_[axis] == no_dimension) {
        const auto& column = extension_codes_[axis];
        return column.empty() ? axes_[axis].default_code : column[point];
    }
    const Dimension& dimension = dimensions_[dimension_of_axis_[axis]];
    const std::uint32_t number = filtered_ ? kept_[point] : point;
    return 1 + number / dimension.stride % dimension.size;
}

void Matrix::codes(PointIndex point, std::vector<std::uint32_t>& out) const {
    out.resize(axes_.size());
    for (std::size_t axis = 0; axis < axes_.size(); ++axis)
        out[axis] = code(point, axis);
}

std::size_t Matrix::find_axis(std::string_view name) const {
    const auto found =
        std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.name == name; });
    return static_cast<std::size_t>(found - axes_.begin());
}

} // namespace tessera
