#include <tessera/base/text.hpp>
#include <tessera/cli/campaign_view.hpp>
#include <tessera/cli/cell_argument.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/journal/owner.hpp>
#include <tessera/store/step_spec_json.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>

namespace po = boost::program_options;

namespace tessera {

namespace {

void line(const char* label, const std::string& text) {
    if (!text.empty()) std::cout << fmt::format("  {:<12} {}\n", label, repair_utf8(text));
}

void show_step_text(const StepSpec& spec) {
    line("command", shell_line(spec.argv));
    for (const EnvEntry& entry : spec.env)
        line("env", entry.name + '=' + shell_quote(entry.value));
    if (spec.stdin_text) line("stdin", shell_quote(*spec.stdin_text));
    line("executor", spec.executor);
    line("resources",
         fmt::format("{} cores, {} devices{}{}", spec.resources.cores, spec.resources.devices,
                     spec.resources.memory_bytes > 0
                         ? fmt::format(", {} bytes of memory", spec.resources.memory_bytes)
                         : std::string(),
                     spec.timeout_s ? ", at most " + format_duration(*spec.timeout_s) : std::string()));
}

std::string ending(const AttemptTable& attempts, std::uint32_t row) {
    std::string text(outcome_names[attempts.outcome[row]]);
    if (attempts.exit_code[row] != null_value<std::int32_t>)
        text += fmt::format(", exit code {}", attempts.exit_code[row]);
    if (attempts.signal[row] != null_value<std::int32_t>)
        text += fmt::format(", signal {}", attempts.signal[row]);
    return text;
}

void show_files(const CampaignView& view, std::uint32_t row) {
    const std::string folder = view.folder_of(row);
    if (!folder.empty() && std::filesystem::is_directory(folder)) {
        line("folder", folder);
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
            if (entry.is_regular_file())
                line("file", fmt::format("{} ({} bytes)", entry.path().lexically_relative(folder).string(),
                                         entry.file_size()));
    }
    line("log pack", view.tables().text(view.tables().attempts.log_pack[row]));
}

void show_attempt(const CampaignView& view, std::uint32_t row) {
    const Tables& tables = view.tables();
    const AttemptTable& attempts = tables.attempts;
    const AttemptId id = view.attempt_id(row);
    const auto attempt = view.acceptance.attempt(id);
    std::cout << fmt::format("\nattempt {} ({}{})\n", attempts.number[row], ending(attempts, row),
                             attempt ? fmt::format("; {}", name(attempt->standing)) : std::string());
    line("id", id.text());
    line("message", tables.text(attempts.message[row]));
    line("where", fmt::format("worker {} on {}, CPUs {}, devices {}", attempts.worker[row],
                              tables.text(attempts.host[row]), tables.text(attempts.cpus[row]),
                              tables.text(attempts.devices[row])));
    line("when", fmt::format("{}, {:.3f} s (user {:.3f} s, system {:.3f} s), peak memory {} bytes",
                             format_utc(attempts.started_ns[row]), attempts.duration_s[row],
                             attempts.user_s[row], attempts.system_s[row], attempts.max_rss_bytes[row]));
    if (attempts.leaked_processes[row] > 0)
        line("leaked",
             fmt::format("{} processes were left behind and ended", attempts.leaked_processes[row]));
    line("output",
         fmt::format("{} bytes to stdout{}, {} to stderr{}", attempts.stdout_bytes[row],
                     attempts.stdout_truncated[row] != 0 ? " (truncated)" : "", attempts.stderr_bytes[row],
                     attempts.stderr_truncated[row] != 0 ? " (truncated)" : ""));
    for (const auto& problem :
         nlohmann::json::parse(tables.text(attempts.metric_problems[row]), nullptr, false))
        if (problem.is_string()) line("problem", problem.get<std::string>());
    show_files(view, row);
}

void show_metrics(const CampaignView& view, std::uint32_t attempt) {
    const Tables& tables = view.tables();
    const MetricTable& metrics = tables.metrics;
    std::cout << "\nmetrics of the accepted attempt\n";
    for (std::size_t row = 0; row < metrics.size(); ++row) {
        if (metrics.attempt[row] != attempt) continue;
        const std::uint32_t metric = metrics.name[row];
        std::string value =
            metrics.text[row] == null_code
                ? fmt::format("{} {}", metrics.value[row], tables.text(tables.metric_names.unit[metric]))
                : tables.text(metrics.text[row]);
        std::string label = tables.text(tables.metric_names.name[metric]);
        if (metrics.series_index[row] != null_value<std::int64_t>)
            label += fmt::format("[{}]", metrics.series_index[row]);
        if (metrics.role[row] == 1) label += " (baseline)";
        std::cout << fmt::format("  {:<32} {}\n", repair_utf8(label), repair_utf8(value));
    }
}

/// The command line, whose arguments the store keeps as a JSON array, as a user would give it.
std::string run_line(const std::string& arguments_json) {
    constexpr std::string_view internal = "--for-parent"; // between Tessera's own processes
    std::vector<std::string> words = {"tessera", "run"};
    for (const auto& word : nlohmann::json::parse(arguments_json, nullptr, false))
        if (word.is_string() && word.get<std::string>().rfind(internal, 0) != 0) words.push_back(word);
    return shell_line(words);
}

void show_provenance(const CampaignView& view, std::uint32_t row) {
    const Tables& tables = view.tables();
    const std::uint32_t part = tables.attempts.part[row];
    const PartTable& parts = tables.parts;
    std::cout << "\nprovenance\n";
    line("part", tables.text(parts.part[part]));
    line("tessera", tables.text(parts.version[part]));
    line("controller", fmt::format("pid {} on {}", parts.pid[part], tables.text(parts.host[part])));
    line("job", tables.text(parts.job[part]));
    line("user", tables.text(parts.user[part]));
    line("run", run_line(tables.text(parts.command_line[part])));
}

} // namespace

int show_command(const std::vector<std::string>& args) {
    const auto argument = parse_cell_argument(
        "usage: tessera show DIR CELL\n\nEverything about one cell: axes, steps, attempts, "
        "command lines, files, provenance.",
        args, po::options_description("Options"));
    if (!argument) return 0;
    const CampaignView view = open_campaign(argument->dir, StepTexts::read);
    const Tables& tables = view.tables();
    const std::uint32_t cell = view.find_cell(argument->cell);
    std::cout << fmt::format("cell {}\n", tables.cells.id[cell].hex());
    line("axes", view.axes_of(cell));
    line("repeat", std::to_string(tables.cells.repeat[cell]));
    line("status", std::string(cell_status_names[view.state.cell_status[cell]]));

    for (std::size_t row = 0; row < tables.cell_steps.size(); ++row) {
        if (tables.cell_steps.cell[row] != cell) continue;
        const std::uint32_t step = tables.cell_steps.step[row];
        const StepView history = view.acceptance.step(tables.steps.key[step]);
        std::cout << fmt::format("\nstep {} {}\n", tables.steps.key[step].hex(),
                                 tables.text(tables.steps.name[step]));
        line("generation", std::to_string(history.generation));
        if (!tables.steps.spec[step].empty()) show_step_text(step_spec_from_json(tables.steps.spec[step]));
        for (const std::uint32_t attempt : view.attempts_of(step))
            show_attempt(view, attempt);
    }
    const std::uint32_t last = tables.cells.last_step[cell];
    if (view.state.step_accepted[last] != null_code) show_metrics(view, view.state.step_accepted[last]);
    if (view.state.step_last[last] != null_code) show_provenance(view, view.state.step_last[last]);
    return 0;
}

} // namespace tessera
