#include <tessera/store/definition_json.hpp>
#include <tessera/store/table_builder.hpp>

#include <algorithm>
#include <functional>

namespace tessera {

namespace {

std::uint32_t row_number(std::size_t size) {
    return static_cast<std::uint32_t>(size);
}

/// All columns as long as the ids.
bool well_formed(const CellBatch& batch) {
    const std::size_t size = batch.ids.size();
    return batch.repeats.size() == size && batch.last_steps.size() == size &&
           (batch.other_steps.empty() || batch.other_steps.size() == size) &&
           std::all_of(batch.codes.begin(), batch.codes.end(),
                       [&](const auto& codes) { return codes.size() == size; });
}

} // namespace

std::optional<std::uint32_t> TableBuilder::find_definition(const Id128& digest) const {
    const auto& digests = tables_.definitions.digest;
    const auto found = std::find(digests.begin(), digests.end(), digest);
    if (found == digests.end()) return std::nullopt;
    return row_number(static_cast<std::size_t>(found - digests.begin()));
}

std::size_t TableBuilder::axis_row(std::string_view name, std::string_view type) {
    auto& axes = tables_.cells.axes;
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].name == name) return i;
    axes.push_back(
        {std::string(name), std::string(type), {}, {}, Column<std::uint32_t>(tables_.cells.size(), 0)});
    axis_values_.emplace_back();
    return axes.size() - 1;
}

std::uint32_t TableBuilder::axis_code(std::size_t axis, const std::string& value, const std::string& fields) {
    AxisColumn& column = tables_.cells.axes[axis];
    const auto [found, added] = axis_values_[axis].try_emplace(value, row_number(column.values.size()) + 1);
    if (added) {
        column.values.push_back(value);
        column.fields.push_back(fields);
    }
    return found->second;
}

std::vector<TableBuilder::AxisMap> TableBuilder::map_axes(const std::vector<AxisDefinition>& axes) {
    std::vector<AxisMap> maps;
    for (const AxisDefinition& axis : axes) {
        AxisMap map{axis_row(axis.name, axis.type), {0}};
        for (std::size_t i = 0; i < axis.values.size(); ++i)
            map.codes.push_back(
                axis_code(map.axis, axis.values[i], i < axis.fields.size() ? axis.fields[i] : "{}"));
        maps.push_back(std::move(map));
    }
    return maps;
}

/// Notes where a definition stands; true if it is the newest so far.
bool TableBuilder::declare(std::uint32_t definition, const FramePosition& position) {
    DefinitionTable& table = tables_.definitions;
    const auto place = [&](std::uint32_t row) {
        return FramePosition{tables_.strings[tables_.parts.part[table.newest_part[row]]],
                             table.newest_sequence[row]};
    };
    if (place(definition) < position) {
        table.newest_part[definition] = part_row(position.part);
        table.newest_sequence[definition] = position.sequence;
    }
    for (std::uint32_t row = 0; row < table.size(); ++row)
        if (position < place(row)) return false;
    return true;
}

void TableBuilder::apply(const FramePosition& position, const DefinitionRecord& record) {
    std::visit([&](const auto& typed) { apply(position, typed); }, record);
}

void TableBuilder::apply(const FramePosition& position, const CampaignDefinition& record) {
    DefinitionTable& table = tables_.definitions;
    const std::string axes_text = axes_json(record.axes);
    auto row = find_definition(record.digest);
    if (!row) {
        row = row_number(table.size());
        table.digest.push_back(record.digest);
        table.name.push_back(intern(record.name));
        table.cell_count.push_back(record.cell_count);
        table.axes.push_back(intern(axes_text));
        table.metrics.push_back(intern(metrics_json(record.metrics)));
        table.snapshot.push_back(intern(record.snapshot));
        table.newest_part.push_back(part_row(position.part));
        table.newest_sequence.push_back(position.sequence);
        members_.emplace_back();
    }
    const bool newest = declare(*row, position);
    // Written once more by the store's own writer, so that values of journals and of HDF5 files compare as
    // texts.
    const auto axes = axes_from_json(axes_text);
    auto& maps = definition_axes_[*row] = map_axes(axes);
    if (!newest) return;
    for (std::size_t a = 0; a < axes.size(); ++a)
        for (std::size_t i = 0; i < axes[a].fields.size() && i + 1 < maps[a].codes.size(); ++i)
            tables_.cells.axes[maps[a].axis].fields[maps[a].codes[i + 1] - 1] = axes[a].fields[i];
}

std::pair<std::uint32_t, bool> TableBuilder::add_cell(const CellId& id, std::uint32_t repeat,
                                                      std::uint32_t last_step) {
    CellTable& table = tables_.cells;
    const std::size_t hash = std::hash<Id128>{}(id);
    if (const auto row = cells_.find(hash, [&](std::uint32_t i) { return table.id[i] == id; }))
        return {*row, false};
    const std::uint32_t row = row_number(table.size());
    table.id.push_back(id);
    table.repeat.push_back(repeat);
    table.last_step.push_back(last_step);
    for (AxisColumn& axis : table.axes)
        axis.codes.push_back(0);
    cells_.insert(hash, row);
    return {row, true};
}

void TableBuilder::add_cell_step(std::uint32_t cell, std::uint32_t step, bool last) {
    tables_.cell_steps.cell.push_back(cell);
    tables_.cell_steps.step.push_back(step);
    tables_.cell_steps.last.push_back(last ? 1 : 0);
}

void TableBuilder::add_definition_cell(std::uint32_t definition, std::uint32_t cell) {
    std::vector<bool>& members = members_[definition];
    if (members.size() <= cell)
        members.resize(std::max<std::size_t>(tables_.cells.size(), cell + std::size_t{1}));
    if (members[cell]) return;
    members[cell] = true;
    tables_.definition_cells.definition.push_back(definition);
    tables_.definition_cells.cell.push_back(cell);
}

void TableBuilder::apply(const FramePosition& /*position*/, const CellBatch& record) {
    const auto definition = find_definition(record.definition);
    const auto maps = definition ? definition_axes_.find(*definition) : definition_axes_.end();
    if (maps == definition_axes_.end() || !well_formed(record)) {
        lost_cells_ += record.ids.size();
        return;
    }
    for (std::size_t i = 0; i < record.ids.size(); ++i) {
        const std::uint32_t last_step = step_row(record.last_steps[i]);
        const auto [cell, added] = add_cell(record.ids[i], record.repeats[i], last_step);
        add_definition_cell(*definition, cell);
        if (!added) continue;
        for (std::size_t a = 0; a < maps->second.size() && a < record.codes.size(); ++a) {
            const AxisMap& map = maps->second[a];
            const std::uint32_t code = record.codes[a][i];
            if (code < map.codes.size()) tables_.cells.axes[map.axis].codes[cell] = map.codes[code];
        }
        add_cell_step(cell, last_step, true);
        if (i < record.other_steps.size())
            for (const StepKey& step : record.other_steps[i])
                add_cell_step(cell, step_row(step), false);
    }
}

} // namespace tessera
