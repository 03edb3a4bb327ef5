#include <tessera/store/definition_json.hpp>
#include <tessera/store/table_builder.hpp>

#include <functional>

namespace tessera {

namespace {

std::uint32_t row_number(std::size_t size) {
    return static_cast<std::uint32_t>(size);
}

} // namespace

/// Rows of one set of tables -> rows of the tables that they are added to.
struct TableBuilder::Translation {
    std::vector<std::uint32_t> strings;
    std::vector<std::uint32_t> parts;
    std::vector<std::uint32_t> steps;
    std::vector<std::uint32_t> cells;
    std::vector<std::uint32_t> metric_names;
    std::vector<std::uint32_t> definitions;
    std::uint32_t first_attempt = 0;

    std::uint32_t operator()(Refers refers, std::uint32_t row) const {
        if (row == null_code) return row;
        switch (refers) {
        case Refers::nothing:
            return row;
        case Refers::string:
            return strings[row];
        case Refers::part:
            return parts[row];
        case Refers::step:
            return steps[row];
        case Refers::cell:
            return cells[row];
        case Refers::attempt:
            return first_attempt + row;
        case Refers::metric_name:
            return metric_names[row];
        case Refers::definition:
            return definitions[row];
        }
        return row;
    }

    template <typename Table>
    void append(Table& to, const Table& from) const {
        for_each_column_pair(to, from, [&](const ColumnInfo& info, auto& column, const auto& values) {
            const std::size_t before = column.size();
            column.insert(column.end(), values.begin(), values.end());
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Column<std::uint32_t>>) {
                if (info.refers == Refers::nothing) return;
                for (std::size_t i = before; i < column.size(); ++i)
                    column[i] = (*this)(info.refers, column[i]);
            }
        });
    }
};

TableBuilder::TableBuilder(Tables tables)
    : tables_(std::move(tables)) {
    index_rows();
}

void TableBuilder::index_rows() {
    for (std::uint32_t i = 1; i < tables_.strings.size(); ++i)
        strings_.insert(std::hash<std::string_view>{}(tables_.strings[i]), i);
    for (std::uint32_t i = 0; i < tables_.steps.size(); ++i)
        steps_.insert(std::hash<Id128>{}(tables_.steps.key[i]), i);
    for (std::uint32_t i = 0; i < tables_.cells.size(); ++i)
        cells_.insert(std::hash<Id128>{}(tables_.cells.id[i]), i);
    for (std::uint32_t i = 0; i < tables_.parts.size(); ++i)
        parts_.emplace(tables_.parts.part[i], i);
    for (std::uint32_t i = 0; i < tables_.metric_names.size(); ++i) {
        const MetricNameTable& names = tables_.metric_names;
        metric_names_.emplace(metric_key(names.name[i], names.unit[i], names.direction[i]), i);
    }
    for (const AxisColumn& axis : tables_.cells.axes) {
        auto& codes = axis_values_.emplace_back();
        for (std::uint32_t i = 0; i < axis.values.size(); ++i)
            codes.emplace(axis.values[i], i + 1);
    }
    members_.resize(tables_.definitions.size());
    for (std::vector<bool>& members : members_)
        members.resize(tables_.cells.size());
    for (std::size_t i = 0; i < tables_.definition_cells.size(); ++i)
        members_[tables_.definition_cells.definition[i]][tables_.definition_cells.cell[i]] = true;
    for (std::uint32_t i = 0; i < tables_.definitions.size(); ++i)
        definition_axes_[i] = map_axes(axes_from_json(tables_.text(tables_.definitions.axes[i])));
}

void TableBuilder::add(const Tables& other) {
    Translation rows;
    rows.first_attempt = row_number(tables_.attempts.size());
    for (const std::string& text : other.strings)
        rows.strings.push_back(intern(text));
    for (std::size_t i = 0; i < other.metric_names.size(); ++i) {
        const MetricNameTable& names = other.metric_names;
        rows.metric_names.push_back(metric_name_row(rows.strings[names.name[i]], rows.strings[names.unit[i]],
                                                    static_cast<Direction>(names.direction[i])));
    }
    unite_parts(other, rows);
    unite_definitions(other, rows);
    unite_steps(other, rows);
    unite_cells(other, rows);
    unite_events(other, rows);
}

void TableBuilder::add_definitions(const Tables& other) {
    Translation ignored;
    unite_definitions(other, ignored);
}

/// What a row says of the part's begin and end may lie in different files.
void TableBuilder::unite_parts(const Tables& other, Translation& rows) {
    const PartTable& from = other.parts;
    PartTable& to = tables_.parts;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::uint32_t row = part_row(other.text(from.part[i]));
        rows.parts.push_back(row);
        if (from.opened_ns[i] != null_value<std::int64_t>) {
            to.campaign_id[row] = from.campaign_id[i];
            to.campaign_name[row] = rows.strings[from.campaign_name[i]];
            to.version[row] = rows.strings[from.version[i]];
            to.host[row] = rows.strings[from.host[i]];
            to.boot_id[row] = rows.strings[from.boot_id[i]];
            to.pid[row] = from.pid[i];
            to.job[row] = rows.strings[from.job[i]];
            to.user[row] = rows.strings[from.user[i]];
            to.command_line[row] = rows.strings[from.command_line[i]];
            to.opened_ns[row] = from.opened_ns[i];
        }
        if (from.closed_ns[i] != null_value<std::int64_t>) {
            to.closed_ns[row] = from.closed_ns[i];
            to.exit_code[row] = from.exit_code[i];
            to.close_reason[row] = rows.strings[from.close_reason[i]];
        }
    }
}

void TableBuilder::unite_definitions(const Tables& other, Translation& rows) {
    const DefinitionTable& from = other.definitions;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const FramePosition position{other.text(other.parts.part[from.newest_part[i]]),
                                     from.newest_sequence[i]};
        apply(position, CampaignDefinition{from.digest[i], other.text(from.name[i]), from.cell_count[i],
                                           axes_from_json(other.text(from.axes[i])),
                                           metrics_from_json(other.text(from.metrics[i])),
                                           other.text(from.snapshot[i])});
        rows.definitions.push_back(find_definition(from.digest[i]).value());
    }
}

void TableBuilder::unite_steps(const Tables& other, Translation& rows) {
    const StepTable& from = other.steps;
    StepTable& to = tables_.steps;
    std::vector<bool> told(from.size(), false); ///< its text was not known before
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::uint32_t row = step_row(from.key[i]);
        rows.steps.push_back(row);
        if (from.spec[i].empty() || !to.spec[row].empty()) continue;
        told[i] = true;
        to.name[row] = rows.strings[from.name[i]];
        to.executor[row] = rows.strings[from.executor[i]];
        to.accelerator[row] = rows.strings[from.accelerator[i]];
        to.spec[row] = from.spec[i];
    }
    for (std::size_t i = 0; i < other.step_needs.size(); ++i) {
        if (!told[other.step_needs.step[i]]) continue;
        tables_.step_needs.step.push_back(rows.steps[other.step_needs.step[i]]);
        tables_.step_needs.needs.push_back(rows.steps[other.step_needs.needs[i]]);
    }
}

void TableBuilder::unite_cells(const Tables& other, Translation& rows) {
    std::vector<AxisMap> maps;
    for (const AxisColumn& axis : other.cells.axes) {
        AxisMap map{axis_row(axis.name, axis.type), {0}};
        for (std::size_t i = 0; i < axis.values.size(); ++i)
            map.codes.push_back(axis_code(map.axis, axis.values[i], axis.fields[i]));
        maps.push_back(std::move(map));
    }
    const CellTable& from = other.cells;
    std::vector<bool> added(from.size(), false);
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto [cell, is_new] = add_cell(from.id[i], from.repeat[i], rows.steps[from.last_step[i]]);
        rows.cells.push_back(cell);
        added[i] = is_new;
        if (!is_new) continue;
        for (std::size_t a = 0; a < maps.size(); ++a)
            tables_.cells.axes[maps[a].axis].codes[cell] = maps[a].codes[from.axes[a].codes[i]];
    }
    for (std::size_t i = 0; i < other.cell_steps.size(); ++i)
        if (added[other.cell_steps.cell[i]])
            add_cell_step(rows.cells[other.cell_steps.cell[i]], rows.steps[other.cell_steps.step[i]],
                          other.cell_steps.last[i] != 0);
    for (std::size_t i = 0; i < other.definition_cells.size(); ++i)
        add_definition_cell(rows.definitions[other.definition_cells.definition[i]],
                            rows.cells[other.definition_cells.cell[i]]);
}

/// Rows that stand for frames: those of the other tables are new.
void TableBuilder::unite_events(const Tables& other, Translation& rows) {
    rows.append(tables_.dispatches, other.dispatches);
    rows.append(tables_.started, other.started);
    rows.append(tables_.attempts, other.attempts);
    rows.append(tables_.metrics, other.metrics);
    rows.append(tables_.claims, other.claims);
    rows.append(tables_.invalidations, other.invalidations);
    for (std::size_t i = 0; i < other.coverage.size(); ++i)
        add_coverage(other.text(other.parts.part[other.coverage.part[i]]), other.coverage.file[i],
                     other.coverage.first_sequence[i], other.coverage.last_sequence[i],
                     other.coverage.read_bytes[i]);
}

namespace {

std::vector<std::string> columns_as_bytes(const Tables& tables) {
    std::vector<std::string> columns;
    Tables::tables(tables, [&](std::string_view, const auto& table) {
        for_each_column(table, [&](const ColumnInfo&, const auto& column) {
            using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
            columns.emplace_back(reinterpret_cast<const char*>(column.data()), column.size() * sizeof(Value));
        });
    });
    return columns;
}

} // namespace

bool identical(const Tables& a, const Tables& b) {
    return a.strings == b.strings && a.steps.spec == b.steps.spec && a.cells.axes == b.cells.axes &&
           columns_as_bytes(a) == columns_as_bytes(b);
}

} // namespace tessera
