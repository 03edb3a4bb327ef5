#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/cli/campaign_view.hpp>
#include <tessera/cli/cell_argument.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/journal/log_pack.hpp>
#include <tessera/worker/environment.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace po = boost::program_options;

namespace tessera {

namespace {

struct Logs {
    std::string stdout_text;
    std::string stderr_text;
};

std::string read_if_there(const std::string& path) {
    return std::filesystem::exists(path) ? read_file(path) : std::string();
}

Logs read_folder(const std::string& folder) {
    return {read_if_there(folder + '/' + std::string(attempt_file::standard_output)),
            read_if_there(folder + '/' + std::string(attempt_file::standard_error))};
}

Logs read_logs(const CampaignView& view, std::uint32_t attempt) {
    const AttemptTable& attempts = view.tables().attempts;
    const std::string& pack = view.tables().text(attempts.log_pack[attempt]);
    if (!pack.empty()) {
        LogEntry entry =
            read_log_entry(view.directory.path() + '/' + pack, attempts.log_pack_offset[attempt]);
        return {std::move(entry.stdout_text), std::move(entry.stderr_text)};
    }
    const std::string folder = view.folder_of(attempt);
    if (!folder.empty() && std::filesystem::is_directory(folder)) return read_folder(folder);
    if (attempts.stdout_bytes[attempt] + attempts.stderr_bytes[attempt] == 0) return {};
    throw UserError(fmt::format("the logs of attempt {} are gone ([files] attempts says which are kept)",
                                view.attempt_id(attempt).text()));
}

/// The attempt to show: the one asked for, else the step's result, else its last one; empty if it has none
/// that ended.
std::optional<std::uint32_t> choose(const CampaignView& view, std::uint32_t step,
                                    std::optional<std::uint32_t> number) {
    const auto rows = view.attempts_of(step);
    if (!number) {
        const std::uint32_t row = view.state.step_last[step];
        return row == null_code ? std::nullopt : std::optional(row);
    }
    const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](std::uint32_t row) {
        return view.tables().attempts.number[row] == *number;
    });
    if (found == rows.rend())
        throw UserError(fmt::format("there is no attempt {}; `tessera show` lists them", *number));
    return *found;
}

/// An attempt that runs now has no outcome yet, but its folder.
std::optional<std::string> running_folder(const CampaignView& view, std::uint32_t step) {
    const StartedTable& started = view.tables().started;
    for (std::size_t row = started.size(); row-- > 0;) {
        if (started.step[row] != step) continue;
        const AttemptId id{view.tables().text(view.tables().parts.part[started.part[row]]),
                           view.tables().steps.key[step], started.number[row]};
        const std::string folder = view.directory.path() + "/attempts/" + id.text();
        if (std::filesystem::is_directory(folder)) return folder;
    }
    return std::nullopt;
}

} // namespace

int logs_command(const std::vector<std::string>& args) {
    bool only_stdout = false;
    bool only_stderr = false;
    std::uint32_t number = 0;
    po::options_description options("Options");
    options.add_options()("stdout", po::bool_switch(&only_stdout), "only what it wrote to stdout")(
        "stderr", po::bool_switch(&only_stderr), "only what it wrote to stderr")(
        "attempt", po::value(&number), "of this attempt (default: the accepted one, else the last)");
    const auto argument = parse_cell_argument("usage: tessera logs DIR CELL [OPTIONS]\n\nPrints what a cell "
                                              "wrote, byte for byte: stdout to stdout, stderr to stderr.",
                                              args, options);
    if (!argument) return 0;
    const CampaignView view = open_campaign(argument->dir);
    const std::uint32_t cell = view.find_cell(argument->cell);
    const std::uint32_t step = view.tables().cells.last_step[cell];
    const auto attempt = choose(view, step, number == 0 ? std::nullopt : std::optional(number));
    Logs logs;
    if (attempt) {
        logs = read_logs(view, *attempt);
    } else {
        const auto folder = running_folder(view, step);
        if (!folder)
            throw UserError(fmt::format("cell {} has not run yet ({})",
                                        view.tables().cells.id[cell].short_hex(), view.axes_of(cell)));
        logs = read_folder(*folder);
    }
    if (!only_stderr) std::cout << logs.stdout_text << std::flush;
    if (!only_stdout) std::cerr << logs.stderr_text << std::flush;
    return 0;
}

} // namespace tessera
