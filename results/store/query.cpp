#include <tessera/base/error.hpp>
#include <tessera/store/cell_filter.hpp>
#include <tessera/store/query.hpp>
#include <tessera/store/query_groups.hpp>

#include <algorithm>

namespace tessera {

namespace {

TableCell to_cell(const std::optional<Value>& value) {
    if (!value) return {};
    if (const auto* flag = value->get_if<bool>()) return *flag;
    if (const auto* integer = value->get_if<std::int64_t>()) return *integer;
    if (const auto* number = value->get_if<double>()) return *number;
    return value->display();
}

std::vector<CellColumn> find_columns(const CellColumns& columns, const std::vector<std::string>& names,
                                     std::string_view option, bool may_be_metric = false) {
    std::vector<CellColumn> found;
    for (const std::string& name : names) {
        CellColumn column = columns.find(name, option, may_be_metric);
        const bool repeated = std::any_of(found.begin(), found.end(), [&](const CellColumn& other) {
            return other.header == column.header;
        });
        if (!repeated) found.push_back(std::move(column));
    }
    return found;
}

TextTable row_table(const std::vector<CellColumn>& columns, const Column<std::uint32_t>& cells) {
    TextTable table;
    for (const CellColumn& column : columns)
        table.headers.push_back(column.header);
    table.rows.reserve(cells.size());
    for (const std::uint32_t cell : cells) {
        auto& row = table.rows.emplace_back();
        row.reserve(columns.size());
        for (const CellColumn& column : columns)
            row.push_back(to_cell(column.value(cell)));
    }
    return table;
}

TextTable group_table(const std::vector<CellColumn>& keys, const std::vector<CellColumn>& measures,
                      const std::vector<Aggregate>& aggregates, const Column<std::uint32_t>& cells,
                      const Tables& tables, const CampaignState& state) {
    const Groups groups = group_cells(keys, cells);
    TextTable table;
    table.rows.resize(groups.keys.size());
    for (std::size_t k = 0; k < keys.size(); ++k) {
        table.headers.push_back(keys[k].header);
        for (std::size_t g = 0; g < groups.keys.size(); ++g)
            table.rows[g].push_back(to_cell(groups.keys[g][k]));
    }
    for (const CellColumn& measure : measures) {
        GroupedNumbers numbers = collect_numbers(groups, cells, measure, tables, state);
        for (const Aggregate kind : aggregates) {
            table.headers.push_back(measure.header + "_" +
                                    std::string(aggregate_names[static_cast<std::size_t>(kind)]));
            for (std::size_t g = 0; g < groups.keys.size(); ++g)
                table.rows[g].push_back(kind == Aggregate::count ? TableCell(numbers.count[g])
                                                                 : aggregate(kind, numbers.of_group(g)));
        }
    }
    return table;
}

void check(const Query& query) {
    if (!query.columns.empty() && (!query.group_by.empty() || !query.aggregates.empty()))
        throw UserError(
            "--columns chooses the columns of single cells; with --group-by or --agg use --metric instead");
}

} // namespace

TextTable run_query(const Tables& tables, const CampaignState& state, const Query& query) {
    check(query);
    const CellColumns columns(tables, state);
    Column<std::uint32_t> cells = current_cells(tables);
    if (query.where) cells = filter_cells(columns, cells, *query.where);
    const bool grouped = !query.group_by.empty() || !query.aggregates.empty();
    auto metrics = find_columns(columns, query.metrics, "--metric", true);
    if (query.metrics.empty() && query.columns.empty())
        metrics = find_columns(columns, columns.metric_names(), "--metric");
    if (grouped) {
        auto aggregates = query.aggregates;
        if (aggregates.empty()) aggregates = {Aggregate::mean, Aggregate::ci95, Aggregate::count};
        return group_table(find_columns(columns, query.group_by, "--group-by"), metrics, aggregates, cells,
                           tables, state);
    }
    auto shown = query.columns.empty() ? find_columns(columns, columns.identity_names(), "--columns")
                                       : find_columns(columns, query.columns, "--columns");
    for (CellColumn& metric : metrics)
        if (std::none_of(shown.begin(), shown.end(),
                         [&](const CellColumn& column) { return column.header == metric.header; }))
            shown.push_back(std::move(metric));
    return row_table(shown, cells);
}

} // namespace tessera
