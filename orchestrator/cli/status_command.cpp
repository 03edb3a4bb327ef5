#include <tessera/base/error.hpp>
#include <tessera/cli/campaign_view.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/cli/options.hpp>
#include <tessera/journal/owner.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>

namespace po = boost::program_options;

namespace tessera {

namespace {

struct FailureKind {
    std::uint64_t cells = 0;
    FailureClass failure = FailureClass::none;
    std::uint32_t example = 0; ///< row of /cells
};

struct Summary {
    std::array<std::uint64_t, cell_status_names.size()> by_status{};
    std::uint64_t cells = 0;
    std::map<std::string, FailureKind> failures; ///< by message
};

Summary summarize(const CampaignView& view) {
    Summary summary;
    for (const std::uint32_t cell : current_cells(view.tables())) {
        ++summary.cells;
        ++summary.by_status[view.state.cell_status[cell]];
        if (view.state.status(cell) != CellStatus::failed) continue;
        const std::uint32_t attempt = view.state.step_last[view.tables().cells.last_step[cell]];
        if (attempt == null_code) continue;
        const std::string& message = view.tables().text(view.tables().attempts.message[attempt]);
        // What a cell wrote last differs from cell to cell; how it ended is the kind.
        FailureKind& kind = summary.failures[message.substr(0, message.find("; last line of"))];
        if (kind.cells++ > 0) continue;
        kind.failure = static_cast<FailureClass>(view.tables().attempts.failure[attempt]);
        kind.example = cell;
    }
    return summary;
}

/// What usually helps against a class of failures.
std::string remedy(FailureClass failure, const std::string& dir, const std::string& cell) {
    const std::string look = fmt::format("look at `tessera logs {} {}`", dir, cell);
    const std::string again = "then `tessera run CAMPAIGN.toml --retry-failed`";
    switch (failure) {
    case FailureClass::out_of_memory:
        return fmt::format("give it more memory ([resources] memory, fewer cells at once) or less work; {}",
                           again);
    case FailureClass::timeout:
        return fmt::format("raise [resources] timeout if it was still working ({}); {}", look, again);
    case FailureClass::verdict:
        return fmt::format("make sure that the command and its metrics are there ({}); {}", look, again);
    case FailureClass::spawn:
        return fmt::format(
            "the node lacks processes, descriptors or memory: fewer cells at once, higher limits; {}", again);
    case FailureClass::lost:
        return fmt::format("its worker or node was lost; {}", again);
    default:
        return fmt::format("{}, try it by hand with `tessera exec {} {}`; {}", look, dir, cell, again);
    }
}

std::string last_run(const CampaignView& view) {
    const auto parts = view.directory.parts();
    if (parts.empty()) return "never run";
    const std::string& part = parts.back();
    if (part_may_run(view.directory, part)) {
        const auto owner = view.directory.owner(part);
        return "running: " + (owner ? describe(*owner) : part);
    }
    const PartTable& table = view.tables().parts;
    for (std::size_t row = 0; row < table.size(); ++row) {
        if (view.tables().text(table.part[row]) != part || table.closed_ns[row] == null_value<std::int64_t>)
            continue;
        return fmt::format("ended {} with exit code {}: {}", format_utc(table.closed_ns[row]),
                           table.exit_code[row], view.tables().text(table.close_reason[row]));
    }
    return fmt::format("interrupted without an end (part {}); run it again to go on", part);
}

void print_text(const CampaignView& view, const Summary& summary) {
    std::cout << fmt::format("{}: {} cells\n", view.directory.identity().name, summary.cells);
    for (std::size_t status = 0; status < summary.by_status.size(); ++status)
        if (summary.by_status[status] > 0)
            std::cout << fmt::format("  {:<12} {:>8}\n", cell_status_names[status],
                                     summary.by_status[status]);
    std::cout << "last run " << last_run(view) << '\n';
    if (summary.failures.empty()) return;

    std::vector<std::pair<std::string, FailureKind>> kinds(summary.failures.begin(), summary.failures.end());
    std::stable_sort(kinds.begin(), kinds.end(),
                     [](const auto& a, const auto& b) { return a.second.cells > b.second.cells; });
    constexpr std::size_t shown = 10;
    std::cout << "\nfailures\n";
    for (std::size_t i = 0; i < std::min(kinds.size(), shown); ++i) {
        const auto& [message, kind] = kinds[i];
        std::cout << fmt::format("  {} x {}\n      e.g. cell {} ({})\n", kind.cells, message,
                                 view.tables().cells.id[kind.example].short_hex(),
                                 view.axes_of(kind.example));
    }
    if (kinds.size() > shown) std::cout << fmt::format("  and {} further kinds\n", kinds.size() - shown);
    const FailureKind& commonest = kinds.front().second;
    std::cout << "remedy for the commonest: "
              << remedy(commonest.failure, view.directory.path(),
                        view.tables().cells.id[commonest.example].short_hex())
              << '\n';
}

void print_json(const CampaignView& view, const Summary& summary) {
    nlohmann::json json = {
        {"name", view.directory.identity().name}, {"cells", summary.cells}, {"last_run", last_run(view)}};
    for (std::size_t status = 0; status < summary.by_status.size(); ++status)
        json["status"][std::string(cell_status_names[status])] = summary.by_status[status];
    json["failures"] = nlohmann::json::array();
    for (const auto& [message, kind] : summary.failures)
        json["failures"].push_back({{"message", message},
                                    {"class", name(kind.failure)},
                                    {"cells", kind.cells},
                                    {"example", view.tables().cells.id[kind.example].hex()}});
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

} // namespace

int status_command(const std::vector<std::string>& args) {
    std::string dir;
    std::string format;
    po::options_description visible("Options");
    visible.add_options()("format", po::value(&format)->default_value("text"), "text or json");
    po::options_description hidden;
    hidden.add_options()("dir", po::value(&dir));
    po::positional_options_description positional;
    positional.add("dir", 1);
    const char* usage = "usage: tessera status DIR [--format text|json]\n\nHow many cells are in which "
                        "state, how the last run "
                        "went, what failed and what helps.";
    if (parse_options(usage, args, visible, hidden, positional).help_shown) return 0;
    if (dir.empty()) throw UserError("which campaign directory? usage: tessera status DIR");
    if (format != "text" && format != "json")
        throw UserError(fmt::format("--format must be text or json, not '{}'", format));
    const CampaignView view = open_campaign(dir);
    const Summary summary = summarize(view);
    if (format == "json")
        print_json(view, summary);
    else
        print_text(view, summary);
    return 0;
}

} // namespace tessera
