#include <tessera/base/text.hpp>
#include <tessera/store/definition_json.hpp>
#include <tessera/store/step_spec_json.hpp>
#include <tessera/store/table_builder.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace tessera {

namespace {

std::size_t hash_text(std::string_view text) {
    return std::hash<std::string_view>{}(text);
}

std::size_t hash_id(const Id128& id) {
    return std::hash<Id128>{}(id);
}

/// HDF5's strings end at a NUL and are declared as UTF-8.
std::string storable_text(std::string_view text) {
    std::string stored;
    for (const char c : repair_utf8(text)) {
        if (c == '\0')
            stored += "\xEF\xBF\xBD";
        else
            stored += c;
    }
    return stored;
}

bool plain_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
}

std::string cpus_json(const std::vector<std::uint32_t>& cpus) {
    return cpus.empty() ? std::string() : fmt::format("[{}]", fmt::join(cpus, ","));
}

std::uint32_t row_number(std::size_t size) {
    return static_cast<std::uint32_t>(size);
}

} // namespace

void TableBuilder::add(const FramePosition& position, const Record& record) {
    std::visit([&](const auto& typed) { apply(position, typed); }, record);
}

void TableBuilder::add_coverage(std::string_view part, std::uint32_t file, std::uint64_t first_sequence,
                                std::uint64_t last_sequence, std::uint64_t read_bytes) {
    CoverageTable& table = tables_.coverage;
    const std::uint32_t row = part_row(part);
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.part[i] != row || table.file[i] != file) continue;
        table.first_sequence[i] = std::min(table.first_sequence[i], first_sequence);
        table.last_sequence[i] = std::max(table.last_sequence[i], last_sequence);
        table.read_bytes[i] = std::max(table.read_bytes[i], read_bytes);
        return;
    }
    table.part.push_back(row);
    table.file.push_back(file);
    table.first_sequence.push_back(first_sequence);
    table.last_sequence.push_back(last_sequence);
    table.read_bytes.push_back(read_bytes);
}

std::uint32_t TableBuilder::intern(std::string_view text) {
    if (text.empty()) return 0;
    if (!plain_ascii(text)) {
        if (std::string stored = storable_text(text); stored != text) return intern(stored);
    }
    const std::size_t hash = hash_text(text);
    if (const auto code =
            strings_.find(hash, [&](std::uint32_t row) { return tables_.strings[row] == text; }))
        return *code;
    const std::uint32_t code = row_number(tables_.strings.size());
    tables_.strings.emplace_back(text);
    strings_.insert(hash, code);
    return code;
}

std::uint32_t TableBuilder::intern_list(const std::vector<std::string>& texts) {
    return intern(list_json(texts));
}

std::uint32_t TableBuilder::part_row(std::string_view part) {
    const std::uint32_t name = intern(part);
    const auto [found, added] = parts_.try_emplace(name, row_number(tables_.parts.size()));
    if (added) {
        for_each_column(tables_.parts, [](const ColumnInfo& info, auto& column) {
            using Number = typename std::remove_reference_t<decltype(column)>::value_type;
            if constexpr (std::is_arithmetic_v<Number>)
                column.push_back(info.nullable ? null_value<Number> : Number{});
            else
                column.emplace_back();
        });
        tables_.parts.part.back() = name;
    }
    return found->second;
}

std::uint32_t TableBuilder::step_row(const StepKey& key) {
    StepTable& table = tables_.steps;
    if (const auto row = steps_.find(hash_id(key), [&](std::uint32_t i) { return table.key[i] == key; }))
        return *row;
    const std::uint32_t row = row_number(table.size());
    table.key.push_back(key);
    table.name.push_back(0);
    table.executor.push_back(0);
    table.accelerator.push_back(0);
    table.spec.emplace_back();
    steps_.insert(hash_id(key), row);
    return row;
}

std::uint32_t TableBuilder::metric_name_row(std::uint32_t name, std::uint32_t unit, Direction direction) {
    MetricNameTable& table = tables_.metric_names;
    const std::uint64_t key = metric_key(name, unit, static_cast<std::uint8_t>(direction));
    const auto [found, added] = metric_names_.try_emplace(key, row_number(table.size()));
    if (added) {
        table.name.push_back(name);
        table.unit.push_back(unit);
        table.direction.push_back(static_cast<std::uint8_t>(direction));
    }
    return found->second;
}

void TableBuilder::apply(const FramePosition& position, const PartOpenRecord& record) {
    const std::uint32_t row = part_row(position.part);
    PartTable& table = tables_.parts;
    table.campaign_id[row] = record.campaign_id;
    table.campaign_name[row] = intern(record.campaign_name);
    table.version[row] = intern(record.version);
    table.host[row] = intern(record.host);
    table.boot_id[row] = intern(record.boot_id);
    table.pid[row] = record.pid;
    table.job[row] = intern(record.job);
    table.user[row] = intern(record.user);
    table.command_line[row] = intern_list(record.command_line);
    table.opened_ns[row] = record.opened_ns;
}

void TableBuilder::apply(const FramePosition& position, const PartCloseRecord& record) {
    const std::uint32_t row = part_row(position.part);
    PartTable& table = tables_.parts;
    table.closed_ns[row] = record.at_ns;
    table.exit_code[row] = record.exit_code;
    table.close_reason[row] = intern(record.reason);
}

void TableBuilder::apply(const FramePosition& /*position*/, const StepRecord& record) {
    const std::uint32_t row = step_row(record.key);
    StepTable& table = tables_.steps;
    if (!table.spec[row].empty()) return;
    table.name[row] = intern(record.spec.name);
    table.executor[row] = intern(record.spec.executor);
    table.accelerator[row] = intern(record.spec.accelerator);
    table.spec[row] = step_spec_json(record.spec);
    for (const StepKey& needed : record.needs) {
        const std::uint32_t needed_row = step_row(needed);
        tables_.step_needs.step.push_back(row);
        tables_.step_needs.needs.push_back(needed_row);
    }
}

void TableBuilder::apply(const FramePosition& position, const ClaimRecord& record) {
    ClaimTable& table = tables_.claims;
    table.part.push_back(part_row(position.part));
    table.sequence.push_back(position.sequence);
    table.batch.push_back(intern(record.claim.batch));
    table.epoch.push_back(record.claim.epoch);
    table.predecessor.push_back(intern(record.predecessor));
    table.last_honoured.push_back(record.last_honoured);
}

void TableBuilder::apply(const FramePosition& position, const DispatchedRecord& record) {
    DispatchTable& table = tables_.dispatches;
    const std::uint32_t part = part_row(position.part);
    const std::uint32_t batch = intern(record.claim.batch);
    for (const DispatchedItem& item : record.items) {
        table.part.push_back(part);
        table.sequence.push_back(position.sequence);
        table.step.push_back(step_row(item.step));
        table.number.push_back(item.number);
        table.generation.push_back(item.generation);
        table.worker.push_back(record.worker);
        table.batch.push_back(batch);
        table.epoch.push_back(record.claim.epoch);
        table.at_ns.push_back(record.at_ns);
        table.inputs.push_back(intern_list(item.inputs));
    }
}

void TableBuilder::apply(const FramePosition& position, const StartedRecord& record) {
    StartedTable& table = tables_.started;
    table.part.push_back(part_row(position.part));
    table.sequence.push_back(position.sequence);
    table.step.push_back(step_row(record.step));
    table.number.push_back(record.number);
    table.worker.push_back(record.worker);
    table.host.push_back(intern(record.host));
    table.devices.push_back(intern_list(record.devices));
    table.at_ns.push_back(record.at_ns);
}

void TableBuilder::apply(const FramePosition& /*position*/, const MetricsRecord& /*record*/) {}

void TableBuilder::apply(const FramePosition& position, const OutcomeRecord& record) {
    AttemptTable& table = tables_.attempts;
    const std::uint32_t row = row_number(table.size());
    const bool usual_folder = !record.folder.empty() && record.folder == "attempts/" + record.attempt.text();
    table.part.push_back(part_row(record.attempt.part));
    table.step.push_back(step_row(record.attempt.step));
    table.number.push_back(record.attempt.number);
    table.generation.push_back(record.generation);
    table.batch.push_back(intern(record.claim.batch));
    table.epoch.push_back(record.claim.epoch);
    table.outcome.push_back(static_cast<std::uint8_t>(record.kind));
    table.failure.push_back(static_cast<std::uint8_t>(record.failure));
    table.message.push_back(intern(record.message));
    table.exit_code.push_back(record.exit_code.value_or(null_value<std::int32_t>));
    table.signal.push_back(record.signal.value_or(null_value<std::int32_t>));
    table.worker.push_back(record.worker);
    table.host.push_back(intern(record.host));
    table.devices.push_back(intern_list(record.devices));
    table.cpus.push_back(intern(cpus_json(record.cpus)));
    table.started_ns.push_back(record.started_ns);
    table.ended_ns.push_back(record.ended_ns);
    table.duration_s.push_back(record.duration_s);
    table.user_s.push_back(record.user_s);
    table.system_s.push_back(record.system_s);
    table.max_rss_bytes.push_back(record.max_rss_bytes);
    table.leaked_processes.push_back(record.leaked_processes);
    table.usual_folder.push_back(usual_folder ? 1 : 0);
    table.folder.push_back(usual_folder ? 0 : intern(record.folder));
    table.log_pack.push_back(intern(record.log_pack));
    table.log_pack_offset.push_back(record.log_pack_offset);
    table.stdout_bytes.push_back(record.stdout_bytes);
    table.stderr_bytes.push_back(record.stderr_bytes);
    table.stdout_truncated.push_back(record.stdout_truncated ? 1 : 0);
    table.stderr_truncated.push_back(record.stderr_truncated ? 1 : 0);
    table.metrics_truncated.push_back(record.metrics_truncated ? 1 : 0);
    table.metric_problems.push_back(intern_list(record.metric_problems));
    table.recorded_part.push_back(part_row(position.part));
    table.recorded_sequence.push_back(position.sequence);
    for (const MetricPoint& point : record.metrics)
        add_metric(row, point);
}

void TableBuilder::add_metric(std::uint32_t attempt, const MetricPoint& point) {
    MetricTable& table = tables_.metrics;
    table.attempt.push_back(attempt);
    table.name.push_back(metric_name_row(intern(point.name), intern(point.unit), point.direction));
    table.role.push_back(static_cast<std::uint8_t>(point.role));
    table.series_index.push_back(point.series_index.value_or(null_value<std::int64_t>));
    table.member.push_back(point.member.value_or(null_code));
    table.t_s.push_back(point.t_s);
    table.value.push_back(point.value);
    table.text.push_back(point.text ? intern(*point.text) : null_code);
}

void TableBuilder::apply(const FramePosition& position, const InvalidatedRecord& record) {
    InvalidationTable& table = tables_.invalidations;
    const std::uint32_t reason = intern(record.reason);
    const std::uint32_t user = intern(record.user);
    for (const InvalidatedRecord::Item& item : record.items) {
        table.part.push_back(part_row(position.part));
        table.sequence.push_back(position.sequence);
        table.step.push_back(step_row(item.step));
        table.generation.push_back(item.generation);
        table.reason.push_back(reason);
        table.user.push_back(user);
        table.at_ns.push_back(record.at_ns);
    }
}

} // namespace tessera
