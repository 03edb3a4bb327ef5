#include <tessera/campaign/expression.hpp>
#include <tessera/store/query_groups.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tessera {

namespace {

/// Absent values first, then by type, then by value.
bool value_before(const std::optional<Value>& a, const std::optional<Value>& b) {
    if (!a || !b) return !a && b;
    if (const auto order = compare_values(*a, *b)) return *order < 0;
    return a->canonical() < b->canonical();
}

/// The column's value of each cell as a code; `dictionary` gets the values in their order.
std::vector<std::uint32_t> codes_of(const CellColumn& column, const Column<std::uint32_t>& cells,
                                    std::vector<std::optional<Value>>& dictionary) {
    std::vector<std::uint32_t> codes;
    codes.reserve(cells.size());
    if (column.coded()) {
        dictionary = column.dictionary;
        for (const std::uint32_t cell : cells)
            codes.push_back(column.code(cell));
        return codes;
    }
    std::unordered_map<std::string, std::uint32_t> known;
    std::vector<std::optional<Value>> found;
    for (const std::uint32_t cell : cells) {
        auto value = column.compute(cell);
        const auto [entry, added] = known.try_emplace(value ? value->canonical() : std::string(),
                                                      static_cast<std::uint32_t>(found.size()));
        if (added) found.push_back(std::move(value));
        codes.push_back(entry->second);
    }
    std::vector<std::uint32_t> order(found.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return value_before(found[a], found[b]); });
    std::vector<std::uint32_t> places(found.size());
    for (std::uint32_t place = 0; place < order.size(); ++place) {
        places[order[place]] = place;
        dictionary.push_back(found[order[place]]);
    }
    for (std::uint32_t& code : codes)
        code = places[code];
    return codes;
}

} // namespace

/// Column by column: each group is split by the codes of the next column and the pieces are numbered in
/// order.
Groups group_cells(const std::vector<CellColumn>& columns, const Column<std::uint32_t>& cells) {
    Groups groups;
    groups.keys.resize(1);
    groups.group_of.assign(cells.size(), 0);
    for (const CellColumn& column : columns) {
        std::vector<std::optional<Value>> dictionary;
        const auto codes = codes_of(column, cells, dictionary);
        const auto key = [&](std::size_t i) { return std::uint64_t{groups.group_of[i]} << 32U | codes[i]; };
        std::unordered_map<std::uint64_t, std::uint32_t> numbers;
        for (std::size_t i = 0; i < cells.size(); ++i)
            numbers.try_emplace(key(i), 0);
        std::vector<std::uint64_t> sorted;
        for (const auto& [pair, number] : numbers)
            sorted.push_back(pair);
        std::sort(sorted.begin(), sorted.end());
        std::vector<std::vector<std::optional<Value>>> keys;
        for (const std::uint64_t pair : sorted) {
            numbers[pair] = static_cast<std::uint32_t>(keys.size());
            keys.push_back(groups.keys[pair >> 32U]);
            keys.back().push_back(dictionary[pair & UINT32_MAX]);
        }
        for (std::size_t i = 0; i < cells.size(); ++i)
            groups.group_of[i] = numbers[key(i)];
        groups.keys = std::move(keys);
    }
    return groups;
}

GroupedNumbers collect_numbers(const Groups& groups, const Column<std::uint32_t>& cells,
                               const CellColumn& column, const Tables& tables, const CampaignState& state) {
    GroupedNumbers result;
    result.count.assign(groups.keys.size(), 0);
    std::vector<std::pair<std::uint32_t, double>> numbers;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (state.step_accepted[tables.cells.last_step[cells[i]]] == null_code) continue;
        const auto value = column.value(cells[i]);
        if (!value) continue;
        ++result.count[groups.group_of[i]];
        if (const auto* number = value->get_if<double>())
            numbers.emplace_back(groups.group_of[i], *number);
        else if (const auto* integer = value->get_if<std::int64_t>())
            numbers.emplace_back(groups.group_of[i], static_cast<double>(*integer));
    }
    result.begin.assign(groups.keys.size() + 1, 0);
    for (const auto& [group, number] : numbers)
        ++result.begin[group + 1];
    std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
    result.values.resize(numbers.size());
    std::vector<std::size_t> next(result.begin.begin(), result.begin.end() - 1);
    for (const auto& [group, number] : numbers)
        result.values[next[group]++] = number;
    return result;
}

} // namespace tessera
