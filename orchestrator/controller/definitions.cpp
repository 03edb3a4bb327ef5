#include <tessera/controller/definitions.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tessera {

namespace {

constexpr CellIndex cells_per_batch = 65536;

AxisDefinition axis_definition(const Axis& axis) {
    AxisDefinition definition{axis.name, axis.type(), {}, {}};
    for (const AxisValue& value : axis.values) {
        definition.values.push_back(value.value.to_json().dump());
        auto fields = nlohmann::json::object();
        for (const Definition::Field& field : value.definition.fields)
            fields[field.name] = field.value.value.to_json();
        definition.fields.push_back(fields.dump());
    }
    return definition;
}

CellBatch cell_batch(const Plan& plan, CellIndex first, CellIndex end) {
    CellBatch batch;
    batch.definition = plan.digest();
    batch.codes.resize(plan.matrix().axes().size());
    bool any_other = false;
    for (CellIndex cell = first; cell < end; ++cell) {
        batch.ids.push_back(plan.cell_id(cell));
        batch.repeats.push_back(plan.repeat(cell));
        for (std::size_t axis = 0; axis < batch.codes.size(); ++axis)
            batch.codes[axis].push_back(plan.code(cell, axis));
        batch.last_steps.push_back(plan.step_key(plan.last_step(cell)));
        std::vector<StepKey> others;
        for (const StepIndex step : plan.other_steps(cell))
            others.push_back(plan.step_key(step));
        any_other = any_other || !others.empty();
        batch.other_steps.push_back(std::move(others));
    }
    if (!any_other) batch.other_steps.clear();
    return batch;
}

} // namespace

CampaignDefinition campaign_definition(const Plan& plan, const std::string& snapshot) {
    CampaignDefinition definition;
    definition.digest = plan.digest();
    definition.name = plan.campaign().name;
    definition.cell_count = plan.cell_count();
    definition.snapshot = snapshot;
    for (const Axis& axis : plan.matrix().axes())
        definition.axes.push_back(axis_definition(axis));
    return definition;
}

void for_each_cell_batch(const Plan& plan, const std::function<void(CellBatch)>& take) {
    for (CellIndex first = 0; first < plan.cell_count();) {
        const CellIndex end = first + std::min(cells_per_batch, plan.cell_count() - first);
        take(cell_batch(plan, first, end));
        first = end;
    }
}

} // namespace tessera
