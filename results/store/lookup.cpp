#include <tessera/base/error.hpp>
#include <tessera/base/value.hpp>
#include <tessera/store/definition_json.hpp>
#include <tessera/store/lookup.hpp>
#include <tessera/store/step_spec_json.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace tessera {

std::uint32_t find_cell(const Tables& tables, const std::string& prefix) {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t cell : current_cells(tables))
        if (tables.cells.id[cell].hex().starts_with(prefix)) found.push_back(cell);
    if (found.empty())
        throw UserError(
            fmt::format("no cell's id begins with '{}'; 'tessera query DIR' lists the cells", prefix));
    if (found.size() > 1)
        throw UserError(fmt::format(
            "{} cells have ids that begin with '{}', {} and {} among them; give more digits", found.size(),
            prefix, tables.cells.id[found[0]].hex(), tables.cells.id[found[1]].hex()));
    return found.front();
}

namespace {

std::string axis_text(const AxisColumn& axis, std::uint32_t code) {
    return code == 0 ? std::string("-")
                     : Value::from_json(nlohmann::json::parse(axis.values[code - 1])).display();
}

std::optional<std::uint32_t> attempt_row(const Tables& tables, const FramePosition& outcome) {
    const AttemptTable& attempts = tables.attempts;
    for (std::uint32_t row = 0; row < attempts.size(); ++row)
        if (attempts.recorded_sequence[row] == outcome.sequence &&
            tables.text(tables.parts.part[attempts.recorded_part[row]]) == outcome.part)
            return row;
    return std::nullopt;
}

AttemptDetail attempt_detail(const Tables& tables, const AttemptView& view) {
    AttemptDetail detail;
    detail.id = view.id;
    detail.standing = view.standing;
    detail.generation = view.generation;
    if (const auto row = view.outcome ? attempt_row(tables, *view.outcome) : std::nullopt)
        detail.outcome = outcome_record(tables, *row);
    detail.folder = detail.outcome ? detail.outcome->folder : "attempts/" + view.id.text();
    return detail;
}

StepDetail step_detail(const Tables& tables, const Acceptance& acceptance, const CampaignState& state,
                       std::uint32_t step, bool last) {
    StepDetail detail;
    detail.key = tables.steps.key[step];
    detail.status = static_cast<CellStatus>(state.step_status[step]);
    detail.last = last;
    if (!tables.steps.spec[step].empty()) detail.spec = step_spec_from_json(tables.steps.spec[step]);
    for (const AttemptView& view : acceptance.attempts(detail.key))
        detail.attempts.push_back(attempt_detail(tables, view));
    return detail;
}

MetricPoint metric_point(const Tables& tables, std::size_t row) {
    const MetricTable& metrics = tables.metrics;
    MetricPoint point;
    point.name = tables.text(tables.metric_names.name[metrics.name[row]]);
    point.unit = tables.text(tables.metric_names.unit[metrics.name[row]]);
    point.direction = static_cast<Direction>(tables.metric_names.direction[metrics.name[row]]);
    point.role = static_cast<MetricRole>(metrics.role[row]);
    if (metrics.series_index[row] != null_value<std::int64_t>) point.series_index = metrics.series_index[row];
    if (metrics.member[row] != null_code) point.member = metrics.member[row];
    point.t_s = metrics.t_s[row];
    point.value = metrics.value[row];
    if (metrics.text[row] != null_code) point.text = tables.text(metrics.text[row]);
    return point;
}

std::optional<std::int32_t> number_or_null(std::int32_t number) {
    return number == null_value<std::int32_t> ? std::nullopt : std::optional(number);
}

std::vector<std::uint32_t> numbers_from_json(const std::string& text) {
    return text.empty() ? std::vector<std::uint32_t>()
                        : nlohmann::json::parse(text).get<std::vector<std::uint32_t>>();
}

} // namespace

OutcomeRecord outcome_record(const Tables& tables, std::uint32_t attempt) {
    const AttemptTable& rows = tables.attempts;
    OutcomeRecord record;
    record.attempt = {tables.text(tables.parts.part[rows.part[attempt]]),
                      tables.steps.key[rows.step[attempt]], rows.number[attempt]};
    record.generation = rows.generation[attempt];
    record.claim = {tables.text(rows.batch[attempt]), rows.epoch[attempt]};
    record.kind = static_cast<OutcomeKind>(rows.outcome[attempt]);
    record.failure = static_cast<FailureClass>(rows.failure[attempt]);
    record.message = tables.text(rows.message[attempt]);
    record.exit_code = number_or_null(rows.exit_code[attempt]);
    record.signal = number_or_null(rows.signal[attempt]);
    record.worker = rows.worker[attempt];
    record.host = tables.text(rows.host[attempt]);
    record.devices = list_from_json(tables.text(rows.devices[attempt]));
    record.cpus = numbers_from_json(tables.text(rows.cpus[attempt]));
    record.started_ns = rows.started_ns[attempt];
    record.ended_ns = rows.ended_ns[attempt];
    record.duration_s = rows.duration_s[attempt];
    record.user_s = rows.user_s[attempt];
    record.system_s = rows.system_s[attempt];
    record.max_rss_bytes = rows.max_rss_bytes[attempt];
    record.leaked_processes = rows.leaked_processes[attempt];
    record.folder = rows.usual_folder[attempt] != 0 ? "attempts/" + record.attempt.text()
                                                    : tables.text(rows.folder[attempt]);
    record.log_pack = tables.text(rows.log_pack[attempt]);
    record.log_pack_offset = rows.log_pack_offset[attempt];
    record.stdout_bytes = rows.stdout_bytes[attempt];
    record.stderr_bytes = rows.stderr_bytes[attempt];
    record.stdout_truncated = rows.stdout_truncated[attempt] != 0;
    record.stderr_truncated = rows.stderr_truncated[attempt] != 0;
    record.metrics_truncated = rows.metrics_truncated[attempt] != 0;
    record.metric_problems = list_from_json(tables.text(rows.metric_problems[attempt]));
    for (std::size_t i = 0; i < tables.metrics.size(); ++i)
        if (tables.metrics.attempt[i] == attempt) record.metrics.push_back(metric_point(tables, i));
    return record;
}

CellDetail cell_detail(const Tables& tables, const Acceptance& acceptance, const CampaignState& state,
                       std::uint32_t cell) {
    CellDetail detail;
    detail.id = tables.cells.id[cell];
    detail.repeat = tables.cells.repeat[cell];
    detail.status = state.status(cell);
    for (const std::size_t row : current_axes(tables)) {
        const AxisColumn& axis = tables.cells.axes[row];
        detail.axes.emplace_back(axis.name, axis_text(axis, axis.codes[cell]));
    }
    for (const bool last : {false, true})
        for (std::size_t i = 0; i < tables.cell_steps.size(); ++i)
            if (tables.cell_steps.cell[i] == cell && (tables.cell_steps.last[i] != 0) == last)
                detail.steps.push_back(
                    step_detail(tables, acceptance, state, tables.cell_steps.step[i], last));
    return detail;
}

CampaignCounts count_cells(const Tables& tables, const CampaignState& state) {
    CampaignCounts counts;
    std::map<std::pair<std::uint8_t, std::uint32_t>, CampaignCounts::Failure> failures;
    for (const std::uint32_t cell : current_cells(tables)) {
        ++counts.cells[state.cell_status[cell]];
        const std::uint32_t attempt = state.step_last[tables.cells.last_step[cell]];
        if (state.status(cell) != CellStatus::failed || attempt == null_code) continue;
        const std::uint8_t failure = tables.attempts.failure[attempt];
        const std::uint32_t message = tables.attempts.message[attempt];
        auto& entry = failures[{failure, message}];
        if (entry.cells++ > 0) continue;
        entry.failure = static_cast<FailureClass>(failure);
        entry.message = tables.text(message);
        entry.example = cell;
    }
    for (auto& [key, failure] : failures)
        counts.failures.push_back(std::move(failure));
    std::stable_sort(counts.failures.begin(), counts.failures.end(),
                     [](const auto& a, const auto& b) { return a.cells > b.cells; });
    return counts;
}

} // namespace tessera
