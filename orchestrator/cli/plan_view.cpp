#include <tessera/base/text.hpp>
#include <tessera/cli/plan_view.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>

namespace tessera {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t shown_values = 12;

std::string plural(std::uint64_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

TableCell table_cell(const std::optional<Value>& value) {
    if (!value) return {};
    if (const auto* flag = value->get_if<bool>()) return *flag;
    if (const auto* integer = value->get_if<std::int64_t>()) return *integer;
    if (const auto* number = value->get_if<double>()) return *number;
    return value->display();
}

/// An axis may be called as a key of the cell itself is.
std::string axis_key(const std::string& axis) {
    static constexpr std::string_view taken[] = {"id", "command", "stdin", "env"};
    return std::find(std::begin(taken), std::end(taken), axis) == std::end(taken) ? axis : "axis:" + axis;
}

/// How a step becomes a process.
void add_process(Json& json, const StepSpec& spec) {
    json["command"] = spec.argv;
    json["stdin"] = spec.stdin_text ? Json(*spec.stdin_text) : Json();
    json["env"] = Json::object();
    for (const EnvEntry& entry : spec.env)
        json["env"][entry.name] = entry.value;
}

Json load_json(const PlanLoad& load) {
    const auto hours = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json json;
    json["accelerator"] = load.accelerator.empty() ? Json() : Json(load.accelerator);
    json["executor"] = load.executor;
    json["devices"] = load.resources.devices;
    json["cores"] = load.resources.cores;
    json["memory_bytes"] = load.resources.memory_bytes;
    json["steps"] = load.steps;
    json["device_hours_max"] = hours(load.device_hours());
    json["core_hours_max"] = hours(load.core_hours());
    return json;
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TableCell hours_cell(const std::optional<double>& hours) {
    return hours ? TableCell(*hours) : TableCell();
}

std::vector<PlanLoad> find_loads(const Plan& plan, const std::vector<StepIndex>& steps) {
    using Key = std::tuple<std::string, std::string, std::uint32_t, std::uint32_t, std::uint64_t>;
    std::map<Key, PlanLoad> by_kind;
    for (const StepIndex step : steps) {
        const Resources resources = plan.resources(step);
        const std::string executor = plan.executor(step);
        const std::string accelerator = plan.accelerator(step);
        PlanLoad& load =
            by_kind[{accelerator, executor, resources.devices, resources.cores, resources.memory_bytes}];
        load.accelerator = accelerator;
        load.executor = executor;
        load.resources = resources;
        ++load.steps;
        if (const auto timeout_s = plan.timeout_s(step))
            load.timeout_s += *timeout_s;
        else
            ++load.steps_without_timeout;
    }
    std::vector<PlanLoad> loads;
    for (auto& [key, load] : by_kind)
        loads.push_back(std::move(load));
    return loads;
}

} // namespace

std::optional<double> PlanLoad::device_hours() const {
    if (resources.devices == 0) return 0;
    if (steps_without_timeout > 0) return std::nullopt;
    return timeout_s / 3600 * resources.devices;
}

std::optional<double> PlanLoad::core_hours() const {
    if (steps_without_timeout > 0) return std::nullopt;
    return timeout_s / 3600 * resources.cores;
}

PlanView::PlanView(const Plan& plan, std::vector<CellIndex> cells)
    : plan_(&plan)
    , cells_(std::move(cells)) {
    std::vector<bool> needed(plan.step_count(), false);
    for (const CellIndex cell : cells_) {
        needed[plan.last_step(cell)] = true;
        for (const StepIndex step : plan.other_steps(cell))
            needed[step] = true;
    }
    for (StepIndex step = 0; step < plan.step_count(); ++step)
        if (needed[step]) steps_.push_back(step);
    loads_ = find_loads(plan, steps_);
}

std::string PlanView::headline() const {
    const std::uint64_t points = plan_->matrix().point_count();
    const std::uint64_t excluded = plan_->matrix().excluded_count();
    std::string text =
        fmt::format("{}: {} ({} x {}), {} after sharing", plan_->campaign().name,
                    plural(plan_->cell_count(), "cell"), plural(points, "point"),
                    plural(plan_->campaign().repeats, "repeat"), plural(plan_->step_count(), "step"));
    if (excluded > 0) text += fmt::format("; {} excluded", plural(excluded, "point"));
    if (cells_.size() != plan_->cell_count())
        text +=
            fmt::format("\nselected: {}, {}", plural(cells_.size(), "cell"), plural(steps_.size(), "step"));
    return text;
}

TextTable PlanView::axes_table() const {
    TextTable table{{"axis", "type", "values", "which"}, {}};
    for (const Axis& axis : plan_->matrix().axes()) {
        std::vector<std::string> shown;
        for (const AxisValue& value : axis.values) {
            if (shown.size() == shown_values) {
                shown.emplace_back("...");
                break;
            }
            shown.push_back(value.value.display());
        }
        table.rows.push_back({axis.name, axis.type(), static_cast<std::int64_t>(axis.values.size()),
                              fmt::format("{}", fmt::join(shown, ", "))});
    }
    return table;
}

TextTable PlanView::load_table() const {
    TextTable table{{"accelerator", "executor", "devices", "cores", "memory_bytes", "steps",
                     "device_hours_max", "core_hours_max"},
                    {}};
    for (const PlanLoad& load : loads_) {
        const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
        table.rows.push_back(
            {load.accelerator.empty() ? TableCell() : TableCell(load.accelerator), load.executor,
             count(load.resources.devices), count(load.resources.cores),
             load.resources.memory_bytes == 0 ? TableCell() : count(load.resources.memory_bytes),
             count(load.steps), hours_cell(load.device_hours()), hours_cell(load.core_hours())});
    }
    return table;
}

TextTable PlanView::cells_table(bool commands) const {
    TextTable table{{"cell"}, {}};
    for (const Axis& axis : plan_->matrix().axes())
        table.headers.push_back(axis.name);
    table.headers.emplace_back("repeat");
    table.headers.emplace_back("step");
    if (commands) table.headers.emplace_back("command");
    for (const CellIndex cell : cells_) {
        std::vector<TableCell> row{plan_->cell_id(cell).hex()};
        for (const Axis& axis : plan_->matrix().axes())
            row.push_back(table_cell(plan_->value(cell, {axis.name, "", 0})));
        row.emplace_back(std::int64_t{plan_->repeat(cell)});
        row.emplace_back(plan_->step_key(plan_->last_step(cell)).hex());
        if (commands) row.emplace_back(shell_line(plan_->resolve(plan_->last_step(cell)).argv));
        table.rows.push_back(std::move(row));
    }
    return table;
}

TextTable PlanView::steps_table() const {
    TextTable table{{"step", "name", "cells", "command"}, {}};
    for (const StepIndex step : steps_) {
        const StepSpec spec = plan_->resolve(step);
        table.rows.push_back({plan_->step_key(step).hex(), spec.name,
                              static_cast<std::int64_t>(plan_->cells_of(step).size()),
                              shell_line(spec.argv)});
    }
    return table;
}

std::string PlanView::cell_json(CellIndex cell, bool commands) const {
    Json json;
    json["id"] = plan_->cell_id(cell).hex();
    for (const Axis& axis : plan_->matrix().axes()) {
        const auto value = plan_->value(cell, {axis.name, "", 0});
        json[axis_key(axis.name)] = value ? Json(value->to_json()) : Json();
    }
    json["repeat"] = plan_->repeat(cell);
    json["step"] = plan_->step_key(plan_->last_step(cell)).hex();
    if (commands) add_process(json, plan_->resolve(plan_->last_step(cell)));
    return dump(json);
}

Json PlanView::head_json() const {
    Json head;
    head["campaign"] = plan_->campaign().name;
    head["digest"] = plan_->digest().hex();
    head["cell_count"] = cells_.size();
    head["steps"] = steps_.size();
    head["points"] = plan_->matrix().point_count();
    head["repeats"] = plan_->campaign().repeats;
    head["excluded_points"] = plan_->matrix().excluded_count();
    head["axes"] = Json::object();
    for (const Axis& axis : plan_->matrix().axes()) {
        Json values = Json::array();
        for (const AxisValue& value : axis.values)
            values.push_back(Json(value.value.to_json()));
        head["axes"][axis.name] = std::move(values);
    }
    head["runs"] = Json::array();
    for (const PlanLoad& load : loads_)
        head["runs"].push_back(load_json(load));
    return head;
}

std::string PlanView::step_json(StepIndex step) const {
    Json json;
    json["step"] = plan_->step_key(step).hex();
    json["cells"] = plan_->cells_of(step).size();
    add_process(json, plan_->resolve(step));
    return dump(json);
}

void PlanView::write_json(std::ostream& out, bool with_cells, bool commands) const {
    Json head = head_json();
    if (!with_cells) head["cells"] = cells_.size();
    std::string text = dump(head);
    text.pop_back(); // the closing brace
    out << text;
    // Rows are written one by one: all of them as objects would take gigabytes for a million cells.
    const auto write_rows = [&](std::string_view key, const auto& items, auto&& row) {
        out << ",\n \"" << key << "\": [";
        std::string_view separator = "\n  ";
        for (const auto item : items) {
            out << separator << row(item);
            separator = ",\n  ";
        }
        out << "]";
    };
    if (with_cells)
        write_rows("cells", cells_, [&](CellIndex cell) { return cell_json(cell, commands); });
    else if (commands)
        write_rows("commands", steps_, [&](StepIndex step) { return step_json(step); });
    out << "}\n";
}

} // namespace tessera
