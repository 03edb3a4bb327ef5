#pragma once

#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/records.hpp>
#include <tessera/store/row_index.hpp>
#include <tessera/store/tables.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera {

/// Adds records, and whole other tables, to tables. Each frame may be added once only. Live metrics
/// (MetricsRecord) are left out: the outcome repeats them.
class TableBuilder {
public:
    TableBuilder() = default;

    /// Goes on with tables that were read.
    explicit TableBuilder(Tables tables);

    void add(const FramePosition& position, const Record& record);

    /// Adds tables whose frames are disjoint from those added so far. Steps, cells, parts, definitions and
    /// texts that both have become one row.
    void add(const Tables& other);

    /// Only the campaign's definitions and axes of other tables, so that cells that come later can be read.
    void add_definitions(const Tables& other);

    /// Says that the frames of a journal file from `first_sequence` to `last_sequence` are in the tables;
    /// goes on from what was said of the file before.
    void add_coverage(std::string_view part, std::uint32_t file, std::uint64_t first_sequence,
                      std::uint64_t last_sequence, std::uint64_t read_bytes);

    /// Cells that could not be added, because the definition that says what their codes mean was not among
    /// the records.
    std::uint64_t lost_cells() const { return lost_cells_; }

    const Tables& tables() const { return tables_; }

    Tables take() { return std::move(tables_); }

private:
    void apply(const FramePosition& position, const PartOpenRecord& record);
    void apply(const FramePosition& position, const DefinitionRecord& record);
    void apply(const FramePosition& position, const CampaignDefinition& record);
    void apply(const FramePosition& position, const CellBatch& record);
    void apply(const FramePosition& position, const StepRecord& record);
    void apply(const FramePosition& position, const ClaimRecord& record);
    void apply(const FramePosition& position, const DispatchedRecord& record);
    void apply(const FramePosition& position, const StartedRecord& record);
    void apply(const FramePosition& position, const MetricsRecord& record);
    void apply(const FramePosition& position, const OutcomeRecord& record);
    void apply(const FramePosition& position, const InvalidatedRecord& record);
    void apply(const FramePosition& position, const PartCloseRecord& record);

    struct AxisMap {
        std::size_t axis = 0;
        std::vector<std::uint32_t> codes; ///< of the definition -> of the tables
    };
    struct Translation;

    std::uint32_t intern(std::string_view text);
    std::uint32_t intern_list(const std::vector<std::string>& texts);
    std::uint32_t part_row(std::string_view part);
    std::uint32_t step_row(const StepKey& key);
    std::optional<std::uint32_t> find_definition(const Id128& digest) const;

    static std::uint64_t metric_key(std::uint32_t name, std::uint32_t unit, std::uint8_t direction) {
        return std::uint64_t{name} << 33U | std::uint64_t{unit} << 2U | direction;
    }

    std::uint32_t metric_name_row(std::uint32_t name, std::uint32_t unit, Direction direction);
    std::size_t axis_row(std::string_view name, std::string_view type);
    std::uint32_t axis_code(std::size_t axis, const std::string& value, const std::string& fields);
    std::vector<AxisMap> map_axes(const std::vector<AxisDefinition>& axes);
    bool declare(std::uint32_t definition, const FramePosition& position);
    std::pair<std::uint32_t, bool> add_cell(const CellId& id, std::uint32_t repeat, std::uint32_t last_step);
    void add_cell_step(std::uint32_t cell, std::uint32_t step, bool last);
    void add_metric(std::uint32_t attempt, const MetricPoint& point);

    void index_rows();
    void unite_parts(const Tables& other, Translation& rows);
    void unite_definitions(const Tables& other, Translation& rows);
    void unite_steps(const Tables& other, Translation& rows);
    void unite_cells(const Tables& other, Translation& rows);
    void unite_events(const Tables& other, Translation& rows);
    void add_definition_cell(std::uint32_t definition, std::uint32_t cell);

    Tables tables_;
    RowIndex strings_;
    RowIndex steps_;
    RowIndex cells_;
    std::unordered_map<std::uint32_t, std::uint32_t> parts_; ///< by code of the name
    std::unordered_map<std::uint64_t, std::uint32_t>
        metric_names_; ///< by codes of name and unit, and direction
    std::vector<std::unordered_map<std::string, std::uint32_t>> axis_values_; ///< JSON -> code, for each axis
    std::vector<std::vector<bool>> members_; ///< for each definition, which cells it has
    std::unordered_map<std::uint32_t, std::vector<AxisMap>> definition_axes_; ///< by row of the definition
    std::uint64_t lost_cells_ = 0;
};

} // namespace tessera
