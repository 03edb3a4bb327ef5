#pragma once

#include <tessera/base/table.hpp>
#include <tessera/store/aggregate.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/store/tables.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What `tessera query` asks for; empty members stand for the defaults.
struct Query {
    std::vector<std::string> columns; ///< of rows; default: axes, repeat, cell, status
    std::optional<std::string> where; ///< an expression (campaign/expression.hpp) over all column names
    std::vector<std::string> group_by;
    std::vector<std::string> metrics;  ///< default: all, unless `columns` are given
    std::vector<Aggregate> aggregates; ///< default with `group_by`: mean, ci95, count
};

/// One row per current cell, in the order of the axes, then by repeat; or with `group_by` or `aggregates` one
/// row per group, in the order of its columns' values, with a column "<metric>_<aggregate>" for each pair.
/// Groups without an accepted result are there too. Only numbers of accepted attempts are aggregated. Throws
/// UserError for unknown names.
TextTable run_query(const Tables& tables, const CampaignState& state, const Query& query);

} // namespace tessera
