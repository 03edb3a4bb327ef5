#pragma once

#include <tessera/store/campaign_state.hpp>
#include <tessera/store/tables.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Names (codes of their text) and roles of the metrics of accepted attempts of current cells, in the order
/// of recording.
std::vector<std::pair<std::uint32_t, MetricRole>> recorded_metrics(const Tables& tables,
                                                                   const CampaignState& state);

/// For each attempt the row in /metrics that is its value of a metric; null if it has none. Of several
/// points, one without a series index comes first, then that of the highest index; one of the whole attempt
/// before one of a member of a gang, then that of the lowest member; of equals the one written last.
Column<std::uint32_t> select_points(const Tables& tables, const std::string& name, MetricRole role);

} // namespace tessera
