#include <tessera/base/text.hpp>
#include <tessera/campaign/plan.hpp>
#include <tessera/campaign/substitution.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace tessera {

namespace {

const std::vector<std::string>& cell_columns() {
    static const std::vector<std::string> names = {"repeat", "cell", "step"};
    return names;
}

/// The value of an axis or of a field of its definition at one code.
std::optional<Value> axis_value(const Campaign& campaign, const Axis& axis, std::uint32_t code,
                                const std::string& field) {
    if (code == 0) return std::nullopt;
    const AxisValue& value = axis.values[code - 1];
    if (field.empty()) return value.value;
    const PlacedValue* found = value.definition.find(field);
    return found != nullptr ? std::optional(field_value(campaign, field, found->value)) : std::nullopt;
}

void check_reference(const Plan& plan, const Reference& reference) {
    const auto& axes = plan.matrix().axes();
    const std::size_t index = plan.matrix().find_axis(reference.name);
    std::vector<std::string> known;
    if (index == axes.size()) {
        known = cell_columns();
        if (reference.field.empty() && std::find(known.begin(), known.end(), reference.name) != known.end())
            return;
        for (const Axis& axis : axes)
            known.push_back(axis.name);
        throw UserError(
            fmt::format("no cell has '{}'{}", reference.text(), did_you_mean(reference.name, known)));
    }
    if (reference.field.empty()) return;
    for (const AxisValue& value : axes[index].values)
        for (const Definition::Field& field : value.definition.fields)
            known.push_back(field.name);
    if (std::find(known.begin(), known.end(), reference.field) == known.end())
        throw UserError(fmt::format("no value of axis '{}' has a field '{}'{}", reference.name,
                                    reference.field, did_you_mean(reference.field, known)));
}

} // namespace

std::optional<Value> Plan::value(CellIndex cell, const Reference& reference) const {
    const std::size_t axis = matrix().find_axis(reference.name);
    if (axis < matrix().axes().size())
        return axis_value(campaign(), matrix().axes()[axis], code(cell, axis), reference.field);
    if (!reference.field.empty()) return std::nullopt;
    if (reference.name == "repeat") return Value(std::int64_t{repeat(cell)});
    if (reference.name == "cell") return Value(cell_id(cell).hex());
    if (reference.name == "step") return Value(step_key(last_step(cell)).hex());
    return std::nullopt;
}

std::vector<bool> Plan::truth_by_code(const Comparison& comparison, std::size_t axis) const {
    const Axis& source = matrix().axes()[axis];
    std::vector<bool> truth;
    for (std::uint32_t code = 0; code <= source.values.size(); ++code)
        truth.push_back(comparison.holds(axis_value(campaign(), source, code, comparison.reference.field)));
    return truth;
}

std::vector<CellIndex> Plan::select(const Expression& expression) const {
    struct Column {
        std::size_t axis;
        std::vector<bool> truth; ///< by code; empty if it is no axis
    };

    std::vector<Column> columns;
    const auto& comparisons = expression.comparisons();
    for (const Comparison& comparison : comparisons) {
        check_reference(*this, comparison.reference);
        const std::size_t axis = matrix().find_axis(comparison.reference.name);
        const bool is_axis = axis < matrix().axes().size();
        columns.push_back({axis, is_axis ? truth_by_code(comparison, axis) : std::vector<bool>{}});
    }
    std::vector<CellIndex> selected;
    for (CellIndex cell = 0; cell < cell_count(); ++cell) {
        const auto holds = [&](std::size_t i) {
            if (!columns[i].truth.empty()) return bool{columns[i].truth[code(cell, columns[i].axis)]};
            return comparisons[i].holds(value(cell, comparisons[i].reference));
        };
        if (expression.combine(holds)) selected.push_back(cell);
    }
    return selected;
}

} // namespace tessera
