#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/store/cell_column.hpp>
#include <tessera/store/definition_json.hpp>
#include <tessera/store/metric_points.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

namespace tessera {

namespace {

constexpr std::string_view baseline_suffix = ".baseline";
constexpr std::string_view metric_prefix = "metric:";
constexpr std::string_view attempt_prefix = "attempt.";

std::optional<Value> json_value(const nlohmann::json& json) {
    if (json.is_null()) return std::nullopt;
    return Value::from_json(json);
}

/// The values by code; `field` of the definition if it is not empty.
std::vector<std::optional<Value>> axis_values(const AxisColumn& axis, const std::string& field) {
    std::vector<std::optional<Value>> values{std::nullopt};
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
        if (field.empty()) {
            values.push_back(json_value(nlohmann::json::parse(axis.values[i])));
            continue;
        }
        const auto fields = nlohmann::json::parse(axis.fields[i]);
        const auto found = fields.find(field);
        values.push_back(found == fields.end() ? std::nullopt : json_value(*found));
    }
    return values;
}

/// "size" of "y.size"
std::string field_of(const std::string& name) {
    const std::size_t dot = name.find('.');
    return dot == std::string::npos ? std::string() : name.substr(dot + 1);
}

bool has_field(const AxisColumn& axis, const std::string& field) {
    return std::any_of(axis.fields.begin(), axis.fields.end(), [&](const std::string& fields) {
        return nlohmann::json::parse(fields).contains(field);
    });
}

/// Codes in the order of `ranks`, equal values (of a field) having one code.
std::vector<std::uint32_t> dense_codes(const std::vector<std::optional<Value>>& values,
                                       const Column<std::uint32_t>& ranks,
                                       std::vector<std::optional<Value>>& dictionary) {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return ranks[a] < ranks[b]; });
    std::map<std::string, std::uint32_t> known;
    std::vector<std::uint32_t> codes(values.size());
    for (const std::uint32_t old : order) {
        const std::string key = values[old] ? values[old]->canonical() : std::string();
        const auto [entry, added] = known.try_emplace(key, static_cast<std::uint32_t>(dictionary.size()));
        if (added) dictionary.push_back(values[old]);
        codes[old] = entry->second;
    }
    return codes;
}

} // namespace

CellColumns::CellColumns(const Tables& tables, const CampaignState& state)
    : tables_(tables)
    , state_(state)
    , axes_(current_axes(tables)) {
    list_metrics();
}

void CellColumns::list_metrics() {
    std::map<std::pair<std::string, MetricRole>, bool> known;
    const auto add = [&](const std::string& name, MetricRole role) {
        if (known.try_emplace({name, role}, true).second) metrics_.push_back({name, role});
    };
    if (const auto definition = current_definition(tables_))
        for (const MetricDefinition& metric :
             metrics_from_json(tables_.text(tables_.definitions.metrics[*definition])))
            add(metric.name, MetricRole::value);
    for (const auto& [name, role] : recorded_metrics(tables_, state_))
        add(tables_.text(name), role);
}

bool CellColumns::is_identity_name(const std::string& name) const {
    if (axis_of(name) != nullptr) return true;
    return name == "repeat" || name == "cell" || name == "status";
}

std::string CellColumns::metric_header(const MetricSeries& series) const {
    const std::string name =
        series.name + std::string(series.role == MetricRole::baseline ? baseline_suffix : "");
    return is_identity_name(name) ? std::string(metric_prefix) + name : name;
}

std::vector<std::string> CellColumns::identity_names() const {
    std::vector<std::string> names;
    for (const std::size_t axis : axes_)
        names.push_back(tables_.cells.axes[axis].name);
    names.insert(names.end(), {"repeat", "cell", "status"});
    return names;
}

std::vector<std::string> CellColumns::metric_names() const {
    std::vector<std::string> names;
    for (const MetricSeries& series : metrics_)
        names.push_back(metric_header(series));
    return names;
}

std::vector<std::string> CellColumns::all_names() const {
    std::vector<std::string> names = identity_names();
    for (const std::size_t axis : axes_) {
        const AxisColumn& column = tables_.cells.axes[axis];
        for (const std::string& text : column.fields) {
            const auto fields = nlohmann::json::parse(text);
            for (const auto& [field, value] : fields.items()) {
                std::string name = column.name + "." + field;
                if (std::find(names.begin(), names.end(), name) == names.end())
                    names.push_back(std::move(name));
            }
        }
    }
    for (const auto& more : {metric_names(), attempt_column_names()})
        names.insert(names.end(), more.begin(), more.end());
    return names;
}

CellColumn CellColumns::axis_column(const AxisColumn& axis, const std::string& name,
                                    const std::string& field) const {
    CellColumn column;
    column.header = name;
    const auto codes = dense_codes(axis_values(axis, field), code_ranks(tables_, axis), column.dictionary);
    column.code = [&axis, codes](std::uint32_t cell) { return codes[axis.codes[cell]]; };
    return column;
}

const AxisColumn* CellColumns::axis_of(const std::string& name) const {
    const std::string axis_name = name.substr(0, name.find('.'));
    for (const std::size_t row : axes_) {
        const AxisColumn& axis = tables_.cells.axes[row];
        if (axis.name == axis_name && (axis_name == name || has_field(axis, field_of(name)))) return &axis;
    }
    return nullptr;
}

std::optional<CellColumn> CellColumns::find_axis(const std::string& name) const {
    const AxisColumn* axis = axis_of(name);
    if (axis == nullptr) return std::nullopt;
    return axis_column(*axis, name, field_of(name));
}

std::optional<CellColumn> CellColumns::find_identity(const std::string& name) const {
    CellColumn column;
    column.header = name;
    if (name == "status") {
        for (const std::string_view status : cell_status_names)
            column.dictionary.emplace_back(Value(status));
        column.code = [&state = state_](std::uint32_t cell) { return state.cell_status[cell]; };
    } else if (name == "repeat") {
        column.compute = [&tables = tables_](std::uint32_t cell) {
            return Value(static_cast<std::int64_t>(tables.cells.repeat[cell]));
        };
    } else if (name == "cell") {
        column.compute = [&tables = tables_](std::uint32_t cell) {
            return Value(tables.cells.id[cell].hex());
        };
    } else {
        return std::nullopt;
    }
    return column;
}

CellColumn CellColumns::metric_column(const MetricSeries& series) const {
    CellColumn column;
    column.header = metric_header(series);
    // Shared, because std::function copies what it holds.
    const auto points =
        std::make_shared<const Column<std::uint32_t>>(select_points(tables_, series.name, series.role));
    column.compute = [&tables = tables_, &state = state_,
                      points](std::uint32_t cell) -> std::optional<Value> {
        const std::uint32_t attempt = state.step_accepted[tables.cells.last_step[cell]];
        if (attempt == null_code || state.status(cell) != CellStatus::succeeded) return std::nullopt;
        const std::uint32_t point = (*points)[attempt];
        if (point == null_code) return std::nullopt;
        const std::uint32_t text = tables.metrics.text[point];
        return text == null_code ? Value(tables.metrics.value[point]) : Value(tables.text(text));
    };
    return column;
}

std::optional<CellColumn> CellColumns::find_metric(const std::string& name) const {
    for (const MetricSeries& series : metrics_) {
        const std::string plain =
            series.name + std::string(series.role == MetricRole::baseline ? baseline_suffix : "");
        if (name == plain) return metric_column(series);
    }
    return std::nullopt;
}

CellColumn CellColumns::find(const std::string& name, std::string_view option, bool may_be_metric) const {
    if (name.starts_with(metric_prefix)) {
        if (auto column = find_metric(name.substr(metric_prefix.size()))) return *column;
    } else if (name.starts_with(attempt_prefix)) {
        if (auto column = attempt_column(tables_, state_, name.substr(attempt_prefix.size()))) {
            column->header = name;
            return *column;
        }
    } else {
        if (auto column = find_axis(name)) return *column;
        if (auto column = find_identity(name)) return *column;
        if (auto column = find_metric(name)) return *column;
        if (auto column = attempt_column(tables_, state_, name)) return *column;
    }
    if (may_be_metric && metrics_.empty()) return {name, {}, {}, [](std::uint32_t) { return std::nullopt; }};
    throw UserError(fmt::format("{}: there is no axis, field, metric or column '{}'{}", option, name,
                                did_you_mean(name, all_names())));
}

} // namespace tessera
