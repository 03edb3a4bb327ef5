#pragma once

#include <tessera/store/cell_column.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera {

/// Cells divided by equal values of some columns.
struct Groups {
    std::vector<std::vector<std::optional<Value>>>
        keys;                            ///< one list of values a group, in the order of the groups
    std::vector<std::uint32_t> group_of; ///< for each cell in the order given
};

/// Sorts groups by the columns from left to right, coded ones by their codes, others by their values. Without
/// columns there is one group.
Groups group_cells(const std::vector<CellColumn>& columns, const Column<std::uint32_t>& cells);

/// The values of a column in each group.
struct GroupedNumbers {
    std::vector<double> values; ///< group after group
    std::vector<std::size_t> begin;
    std::vector<std::int64_t> count; ///< of values, texts too

    std::span<double> of_group(std::size_t group) {
        return std::span(values).subspan(begin[group], begin[group + 1] - begin[group]);
    }
};

/// Of cells with an accepted attempt only.
GroupedNumbers collect_numbers(const Groups& groups, const Column<std::uint32_t>& cells,
                               const CellColumn& column, const Tables& tables, const CampaignState& state);

} // namespace tessera
