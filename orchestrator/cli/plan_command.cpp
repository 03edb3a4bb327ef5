#include <tessera/base/error.hpp>
#include <tessera/campaign/plan.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/cli/options.hpp>
#include <tessera/cli/plan_view.hpp>
#include <tessera/cli/table_writer.hpp>

#include <fmt/core.h>

#include <iostream>
#include <numeric>

namespace po = boost::program_options;

namespace tessera {

namespace {

struct PlanOptions {
    std::string campaign;
    std::string where;
    std::string format;
    bool cells = false;
    bool commands = false;
};

constexpr const char* usage =
    "usage: tessera plan CAMPAIGN.toml [OPTIONS]\n\nChecks a campaign and shows its axes, cells and "
    "steps, and what runs where. Touches no campaign directory.";

std::optional<PlanOptions> parse(const std::vector<std::string>& args) {
    PlanOptions options;
    po::options_description visible("Options");
    auto add = visible.add_options();
    add("cells", po::bool_switch(&options.cells), "list the cells");
    add("commands", po::bool_switch(&options.commands),
        "show the argument vector of each step (with --cells of each cell)");
    add("where", po::value(&options.where), "only the cells that this expression matches");
    add("format", po::value(&options.format)->default_value("table"),
        std::string(table_format_names).c_str());
    po::options_description hidden;
    hidden.add_options()("campaign", po::value(&options.campaign));
    po::positional_options_description positional;
    positional.add("campaign", 1);
    const ParsedOptions parsed = parse_options(usage, args, visible, hidden, positional);
    if (parsed.help_shown) return std::nullopt;
    if (options.campaign.empty())
        throw UserError("which campaign? usage: tessera plan CAMPAIGN.toml [OPTIONS]");
    return options;
}

std::vector<CellIndex> selected_cells(const Plan& plan, const std::string& where) {
    if (!where.empty()) return plan.select(Expression::parse(where));
    std::vector<CellIndex> all(plan.cell_count());
    std::iota(all.begin(), all.end(), CellIndex{0});
    return all;
}

void write_for_people(const PlanView& view, const PlanOptions& options) {
    const std::size_t width = terminal_width();
    std::cout << view.headline() << "\n\n";
    write_table(std::cout, view.axes_table(), TableFormat::table, width);
    std::cout << '\n';
    write_table(std::cout, view.load_table(), TableFormat::table, width);
    if (!options.cells && !options.commands) return;
    // A command is shown in full, wherever the terminal ends.
    std::cout << '\n';
    write_table(std::cout, options.cells ? view.cells_table(options.commands) : view.steps_table(),
                TableFormat::table, options.commands ? 0 : width);
}

void write_rows(const PlanView& view, const PlanOptions& options, TableFormat format) {
    if (options.cells)
        write_table(std::cout, view.cells_table(options.commands), format);
    else
        write_table(std::cout, options.commands ? view.steps_table() : view.load_table(), format);
}

} // namespace

int plan_command(const std::vector<std::string>& args) {
    const auto options = parse(args);
    if (!options) return 0;
    const TableFormat format = parse_table_format(options->format);
    const Plan plan = Plan::load(options->campaign);
    for (const Diagnostic& warning : plan.warnings())
        std::cerr << "warning: " << warning.text() << '\n';
    const PlanView view(plan, selected_cells(plan, options->where));
    if (format == TableFormat::table)
        write_for_people(view, *options);
    else if (format == TableFormat::json)
        view.write_json(std::cout, options->cells, options->commands);
    else
        write_rows(view, *options, format);
    return 0;
}

} // namespace tessera
