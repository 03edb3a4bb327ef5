#pragma once

#include <tessera/store/columns.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// One row a part: what wrote the results, where and when.
struct PartTable {
    Column<std::uint32_t> part;
    Column<Id128> campaign_id;
    Column<std::uint32_t> campaign_name;
    Column<std::uint32_t> version;
    Column<std::uint32_t> host;
    Column<std::uint32_t> boot_id;
    Column<std::int64_t> pid;
    Column<std::uint32_t> job;
    Column<std::uint32_t> user;
    Column<std::uint32_t> command_line; ///< JSON array
    Column<std::int64_t> opened_ns;     ///< null if the part's first frame is not known
    Column<std::int64_t> closed_ns;     ///< null if the part has not ended in order
    Column<std::int32_t> exit_code;
    Column<std::uint32_t> close_reason;

    std::size_t size() const { return part.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"part", Refers::string}, self.part);
        visit(ColumnInfo{"campaign_id"}, self.campaign_id);
        visit(ColumnInfo{"campaign_name", Refers::string}, self.campaign_name);
        visit(ColumnInfo{"version", Refers::string}, self.version);
        visit(ColumnInfo{"host", Refers::string}, self.host);
        visit(ColumnInfo{"boot_id", Refers::string}, self.boot_id);
        visit(ColumnInfo{"pid"}, self.pid);
        visit(ColumnInfo{"job", Refers::string}, self.job);
        visit(ColumnInfo{"user", Refers::string}, self.user);
        visit(ColumnInfo{"command_line", Refers::string}, self.command_line);
        visit(ColumnInfo{"opened_ns", Refers::nothing, "ns", true, {}, true}, self.opened_ns);
        visit(ColumnInfo{"closed_ns", Refers::nothing, "ns", true, {}, true}, self.closed_ns);
        visit(ColumnInfo{"exit_code", Refers::nothing, {}, true}, self.exit_code);
        visit(ColumnInfo{"close_reason", Refers::string}, self.close_reason);
    }
};

/// One row a version of the campaign.
struct DefinitionTable {
    Column<Id128> digest;
    Column<std::uint32_t> name;
    Column<std::uint64_t> cell_count;
    Column<std::uint32_t> axes;    ///< JSON array of {name, type, values, fields}
    Column<std::uint32_t> metrics; ///< JSON array of {name, unit, direction}
    Column<std::uint32_t> snapshot;
    Column<std::uint32_t> newest_part; ///< where it was declared last
    Column<std::uint64_t> newest_sequence;

    std::size_t size() const { return digest.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"digest"}, self.digest);
        visit(ColumnInfo{"name", Refers::string}, self.name);
        visit(ColumnInfo{"cell_count"}, self.cell_count);
        visit(ColumnInfo{"axes", Refers::string}, self.axes);
        visit(ColumnInfo{"metrics", Refers::string}, self.metrics);
        visit(ColumnInfo{"snapshot", Refers::string}, self.snapshot);
        visit(ColumnInfo{"newest_part", Refers::part}, self.newest_part);
        visit(ColumnInfo{"newest_sequence"}, self.newest_sequence);
    }
};

/// Which cells a definition has.
struct DefinitionCellTable {
    Column<std::uint32_t> definition;
    Column<std::uint32_t> cell;

    std::size_t size() const { return cell.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"definition", Refers::definition}, self.definition);
        visit(ColumnInfo{"cell", Refers::cell}, self.cell);
    }
};

/// One axis of the matrix over all cells.
struct AxisColumn {
    std::string name;
    std::string type;
    std::vector<std::string> values; ///< JSON; code 0 is unset, code i stands for values[i - 1]
    std::vector<std::string> fields; ///< JSON objects, for each value
    Column<std::uint32_t> codes;     ///< one a cell

    bool operator==(const AxisColumn&) const = default;
};

/// One row a cell, of every version of the campaign.
struct CellTable {
    Column<Id128> id;
    Column<std::uint32_t> repeat;
    Column<std::uint32_t> last_step;
    std::vector<AxisColumn> axes;

    std::size_t size() const { return id.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"id"}, self.id);
        visit(ColumnInfo{"repeat"}, self.repeat);
        visit(ColumnInfo{"last_step", Refers::step}, self.last_step);
    }
};

/// Each step that a cell needs.
struct CellStepTable {
    Column<std::uint32_t> cell;
    Column<std::uint32_t> step;
    Column<std::uint8_t> last; ///< 1 for the step that the cell ends with

    std::size_t size() const { return cell.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"cell", Refers::cell}, self.cell);
        visit(ColumnInfo{"step", Refers::step}, self.step);
        visit(ColumnInfo{"last"}, self.last);
    }
};

/// One row a step that any record names. Its text is JSON, empty until the step was first dispatched; all
/// texts lie one after another in `spec_text`, that of row i from spec_end[i - 1] to spec_end[i].
struct StepTable {
    Column<Id128> key;
    Column<std::uint32_t> name;
    Column<std::uint32_t> executor;
    Column<std::uint32_t> accelerator;
    std::vector<std::string> spec;

    std::size_t size() const { return key.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"key"}, self.key);
        visit(ColumnInfo{"name", Refers::string}, self.name);
        visit(ColumnInfo{"executor", Refers::string}, self.executor);
        visit(ColumnInfo{"accelerator", Refers::string}, self.accelerator);
    }
};

struct StepNeedTable {
    Column<std::uint32_t> step;
    Column<std::uint32_t> needs;

    std::size_t size() const { return step.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"step", Refers::step}, self.step);
        visit(ColumnInfo{"needs", Refers::step}, self.needs);
    }
};

} // namespace tessera
