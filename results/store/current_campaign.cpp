#include <tessera/store/campaign_state.hpp>
#include <tessera/store/definition_json.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace tessera {

std::optional<std::uint32_t> current_definition(const Tables& tables) {
    const DefinitionTable& definitions = tables.definitions;
    std::vector<std::uint64_t> cells(definitions.size(), 0);
    for (const std::uint32_t definition : tables.definition_cells.definition)
        ++cells[definition];
    const auto order = [&](std::uint32_t row) {
        return std::tuple(cells[row] >= definitions.cell_count[row],
                          std::string_view(tables.text(tables.parts.part[definitions.newest_part[row]])),
                          definitions.newest_sequence[row]);
    };
    std::optional<std::uint32_t> newest;
    for (std::uint32_t row = 0; row < definitions.size(); ++row)
        if (!newest || order(*newest) < order(row)) newest = row;
    return newest;
}

namespace {

std::vector<AxisDefinition> current_axis_definitions(const Tables& tables) {
    const auto definition = current_definition(tables);
    if (!definition) return {};
    return axes_from_json(tables.text(tables.definitions.axes[*definition]));
}

} // namespace

std::vector<std::size_t> current_axes(const Tables& tables) {
    std::vector<std::size_t> rows;
    for (const AxisDefinition& axis : current_axis_definitions(tables))
        for (std::size_t i = 0; i < tables.cells.axes.size(); ++i)
            if (tables.cells.axes[i].name == axis.name) rows.push_back(i);
    return rows;
}

Column<std::uint32_t> code_ranks(const Tables& tables, const AxisColumn& axis) {
    Column<std::uint32_t> ranks(axis.values.size() + 1, static_cast<std::uint32_t>(axis.values.size()) + 1);
    ranks[0] = 0;
    std::unordered_map<std::string_view, std::size_t> codes;
    for (std::size_t i = 0; i < axis.values.size(); ++i)
        codes.emplace(axis.values[i], i + 1);
    for (const AxisDefinition& definition : current_axis_definitions(tables)) {
        if (definition.name != axis.name) continue;
        std::uint32_t rank = 0;
        for (const std::string& value : definition.values)
            if (const auto code = codes.find(value); code != codes.end()) ranks[code->second] = ++rank;
    }
    return ranks;
}

Column<std::uint32_t> current_cells(const Tables& tables) {
    Column<std::uint32_t> cells;
    const auto definition = current_definition(tables);
    if (!definition) return cells;
    for (std::size_t i = 0; i < tables.definition_cells.size(); ++i)
        if (tables.definition_cells.definition[i] == *definition)
            cells.push_back(tables.definition_cells.cell[i]);

    struct SortKey {
        const Column<std::uint32_t>* codes;
        Column<std::uint32_t> ranks;
    };

    std::vector<SortKey> keys;
    for (const std::size_t axis : current_axes(tables))
        keys.push_back({&tables.cells.axes[axis].codes, code_ranks(tables, tables.cells.axes[axis])});
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        for (const SortKey& key : keys) {
            const std::uint32_t rank_a = key.ranks[(*key.codes)[a]];
            const std::uint32_t rank_b = key.ranks[(*key.codes)[b]];
            if (rank_a != rank_b) return rank_a < rank_b;
        }
        return std::tie(tables.cells.repeat[a], tables.cells.id[a]) <
               std::tie(tables.cells.repeat[b], tables.cells.id[b]);
    };
    // Journals list cells in this order already, so that sorting is the exception.
    if (!std::is_sorted(cells.begin(), cells.end(), before)) std::sort(cells.begin(), cells.end(), before);
    return cells;
}

} // namespace tessera
