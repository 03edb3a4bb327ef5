#include <tessera/store/metric_points.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

namespace tessera {

std::vector<std::pair<std::uint32_t, MetricRole>> recorded_metrics(const Tables& tables,
                                                                   const CampaignState& state) {
    std::vector<bool> counts(tables.attempts.size(), false);
    for (const std::uint32_t cell : current_cells(tables)) {
        const std::uint32_t attempt = state.step_accepted[tables.cells.last_step[cell]];
        if (attempt != null_code) counts[attempt] = true;
    }
    std::vector<std::array<bool, role_names.size()>> seen(tables.metric_names.size());
    std::vector<std::pair<std::uint32_t, MetricRole>> metrics;
    for (std::size_t i = 0; i < tables.metrics.size(); ++i) {
        bool& known = seen[tables.metrics.name[i]][tables.metrics.role[i]];
        if (known || !counts[tables.metrics.attempt[i]]) continue;
        known = true;
        metrics.emplace_back(tables.metric_names.name[tables.metrics.name[i]],
                             static_cast<MetricRole>(tables.metrics.role[i]));
    }
    return metrics;
}

Column<std::uint32_t> select_points(const Tables& tables, const std::string& name, MetricRole role) {
    std::vector<bool> named;
    for (const std::uint32_t code : tables.metric_names.name)
        named.push_back(tables.text(code) == name);
    const MetricTable& metrics = tables.metrics;
    const auto rank = [&](std::uint32_t row) {
        const std::int64_t index = metrics.series_index[row];
        const std::uint32_t member = metrics.member[row];
        const bool single = index == null_value<std::int64_t>;
        return std::tuple(single, index, member == null_code ? std::int64_t{1} : -std::int64_t{member});
    };
    Column<std::uint32_t> points(tables.attempts.size(), null_code);
    for (std::uint32_t row = 0; row < metrics.size(); ++row) {
        if (!named[metrics.name[row]] || metrics.role[row] != static_cast<std::uint8_t>(role)) continue;
        std::uint32_t& best = points[metrics.attempt[row]];
        if (best == null_code || rank(best) <= rank(row)) best = row;
    }
    return points;
}

} // namespace tessera
