#include <tessera/store/cell_column.hpp>
#include <tessera/store/iso_time.hpp>

#include <fmt/core.h>

#include <array>

namespace tessera {

namespace {

using Reading = std::optional<Value> (*)(const Tables& tables, std::uint32_t row);

struct NamedReading {
    std::string_view name;
    Reading read;
};

std::optional<Value> text_or_null(const Tables& tables, std::uint32_t code) {
    if (code == 0) return std::nullopt;
    return Value(tables.text(code));
}

std::optional<Value> number_or_null(std::int32_t number) {
    if (number == null_value<std::int32_t>) return std::nullopt;
    return Value(std::int64_t{number});
}

Value whole(std::uint64_t number) {
    return Value(static_cast<std::int64_t>(number));
}

const std::string& part_name(const Tables& tables, std::uint32_t row) {
    return tables.text(tables.parts.part[tables.attempts.part[row]]);
}

std::string attempt_id(const Tables& tables, std::uint32_t row) {
    const AttemptTable& attempts = tables.attempts;
    return AttemptId{part_name(tables, row), tables.steps.key[attempts.step[row]], attempts.number[row]}
        .text();
}

std::optional<Value> folder(const Tables& tables, std::uint32_t row) {
    if (tables.attempts.usual_folder[row] != 0) return Value("attempts/" + attempt_id(tables, row));
    return text_or_null(tables, tables.attempts.folder[row]);
}

constexpr std::array<NamedReading, 21> readings{{
    {"attempt", [](const Tables& t, std::uint32_t i) { return std::optional(Value(attempt_id(t, i))); }},
    {"part", [](const Tables& t, std::uint32_t i) { return std::optional(Value(part_name(t, i))); }},
    {"number", [](const Tables& t, std::uint32_t i) { return std::optional(whole(t.attempts.number[i])); }},
    {"generation",
     [](const Tables& t, std::uint32_t i) { return std::optional(whole(t.attempts.generation[i])); }},
    {"outcome", [](const Tables& t,
                   std::uint32_t i) { return std::optional(Value(outcome_names[t.attempts.outcome[i]])); }},
    {"failure", [](const Tables& t,
                   std::uint32_t i) { return std::optional(Value(failure_names[t.attempts.failure[i]])); }},
    {"message", [](const Tables& t, std::uint32_t i) { return text_or_null(t, t.attempts.message[i]); }},
    {"exit_code", [](const Tables& t, std::uint32_t i) { return number_or_null(t.attempts.exit_code[i]); }},
    {"signal", [](const Tables& t, std::uint32_t i) { return number_or_null(t.attempts.signal[i]); }},
    {"worker", [](const Tables& t, std::uint32_t i) { return std::optional(whole(t.attempts.worker[i])); }},
    {"host", [](const Tables& t, std::uint32_t i) { return text_or_null(t, t.attempts.host[i]); }},
    {"devices", [](const Tables& t, std::uint32_t i) { return text_or_null(t, t.attempts.devices[i]); }},
    {"started", [](const Tables& t,
                   std::uint32_t i) { return std::optional(Value(iso_time(t.attempts.started_ns[i]))); }},
    {"ended",
     [](const Tables& t, std::uint32_t i) { return std::optional(Value(iso_time(t.attempts.ended_ns[i]))); }},
    {"duration_s",
     [](const Tables& t, std::uint32_t i) { return std::optional(Value(t.attempts.duration_s[i])); }},
    {"user_s", [](const Tables& t, std::uint32_t i) { return std::optional(Value(t.attempts.user_s[i])); }},
    {"system_s",
     [](const Tables& t, std::uint32_t i) { return std::optional(Value(t.attempts.system_s[i])); }},
    {"max_rss_bytes",
     [](const Tables& t, std::uint32_t i) { return std::optional(whole(t.attempts.max_rss_bytes[i])); }},
    {"leaked_processes",
     [](const Tables& t, std::uint32_t i) { return std::optional(whole(t.attempts.leaked_processes[i])); }},
    {"folder", folder},
    {"step", [](const Tables& t,
                std::uint32_t i) { return std::optional(Value(t.steps.key[t.attempts.step[i]].hex())); }},
}};

} // namespace

std::optional<CellColumn> attempt_column(const Tables& tables, const CampaignState& state,
                                         const std::string& name) {
    for (const NamedReading& reading : readings) {
        if (reading.name != name) continue;
        CellColumn column;
        column.header = name;
        column.compute = [&tables, &state, read = reading.read](std::uint32_t cell) -> std::optional<Value> {
            const std::uint32_t row = state.step_last[tables.cells.last_step[cell]];
            return row == null_code ? std::nullopt : read(tables, row);
        };
        return column;
    }
    return std::nullopt;
}

std::vector<std::string> attempt_column_names() {
    std::vector<std::string> names;
    for (const NamedReading& reading : readings)
        names.emplace_back(reading.name);
    return names;
}

} // namespace tessera
