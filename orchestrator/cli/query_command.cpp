#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/cli/options.hpp>
#include <tessera/cli/table_writer.hpp>
#include <tessera/store/query.hpp>
#include <tessera/store/store.hpp>

#include <fmt/core.h>

#include <iostream>
#include <optional>

namespace po = boost::program_options;

namespace tessera {

namespace {

constexpr std::size_t shown_id_digits = 10;

constexpr const char* usage = "usage: tessera query DIR [OPTIONS]\n\nShows the results of a campaign, also "
                              "while it runs: one row per cell, or with "
                              "--group-by one row per group.\nNames are axes, axis.field, repeat, cell, "
                              "status, metrics (metric:NAME where an axis has "
                              "the name, NAME.baseline\nfor a baseline) and what is known of the attempt, "
                              "such as duration_s, host or message. Lists are "
                              "separated by commas.";

struct QueryOptions {
    std::string directory;
    Query query;
    TableFormat format = TableFormat::table;
};

std::vector<std::string> split_lists(const std::vector<std::string>& lists) {
    std::vector<std::string> names;
    for (const std::string& list : lists)
        for (std::string& name : split(list, ',')) {
            name.erase(0, name.find_first_not_of(' '));
            name.erase(name.find_last_not_of(' ') + 1);
            if (!name.empty()) names.push_back(std::move(name));
        }
    return names;
}

std::optional<QueryOptions> parse(const std::vector<std::string>& args) {
    QueryOptions options;
    std::vector<std::string> columns, group_by, metrics, aggregates;
    std::string where, format;
    po::options_description visible("Options");
    auto add = visible.add_options();
    add("columns", po::value(&columns), "columns of the rows, in this order");
    add("where", po::value(&where),
        "only the cells that this expression matches, e.g. \"x >= 2 and status = failed\"");
    add("group-by", po::value(&group_by), "one row for each combination of these columns' values");
    add("metric", po::value(&metrics), "only these metrics");
    add("agg", po::value(&aggregates),
        "with --group-by: mean, min, max, median, std, count, ci95 (half the width of the mean's 95 % "
        "confidence interval "
        "by Student's t); default mean,ci95,count");
    add("format", po::value(&format)->default_value("table"), std::string(table_format_names).c_str());
    po::options_description hidden;
    hidden.add_options()("dir", po::value(&options.directory));
    po::positional_options_description positional;
    positional.add("dir", 1);
    if (parse_options(usage, args, visible, hidden, positional).help_shown) return std::nullopt;
    if (options.directory.empty())
        throw UserError("which campaign directory? usage: tessera query DIR [OPTIONS]");
    options.query.columns = split_lists(columns);
    if (!where.empty()) options.query.where = where;
    options.query.group_by = split_lists(group_by);
    options.query.metrics = split_lists(metrics);
    for (const std::string& name : split_lists(aggregates))
        options.query.aggregates.push_back(parse_aggregate(name));
    options.format = parse_table_format(format);
    return options;
}

/// For people the first digits of a cell's id do; every command takes them.
void shorten_ids(TextTable& table) {
    for (std::size_t i = 0; i < table.headers.size(); ++i) {
        if (table.headers[i] != "cell") continue;
        for (auto& row : table.rows)
            if (auto* text = std::get_if<std::string>(&row[i]))
                text->resize(std::min(text->size(), shown_id_digits));
    }
}

} // namespace

int query_command(const std::vector<std::string>& args) {
    const auto options = parse(args);
    if (!options) return 0;
    const auto directory = CampaignDirectory::open(options->directory);
    const Store store = open_store(directory);
    for (const std::string& warning : store.warnings)
        std::cerr << "tessera query: warning: " << warning << '\n';
    if (!current_definition(store.tables))
        throw UserError(
            fmt::format("{} holds no cells yet: no run has come that far; start one with 'tessera run'",
                        options->directory));
    const auto state = campaign_state(store.tables, acceptance_of(store.tables),
                                      [&](const std::string& part) { return part_may_run(directory, part); });
    TextTable table = run_query(store.tables, state, options->query);
    const bool for_people = options->format == TableFormat::table || options->format == TableFormat::markdown;
    if (for_people) shorten_ids(table);
    write_table(std::cout, table, options->format, terminal_width());
    return 0;
}

} // namespace tessera
