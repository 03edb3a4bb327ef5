#include <tessera/base/error.hpp>
#include <tessera/store/definition_json.hpp>
#include <tessera/store/table_check.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace tessera {

namespace {

std::size_t rows_of(const Tables& tables, Refers refers) {
    switch (refers) {
    case Refers::nothing:
        return std::size_t{1} << 32U;
    case Refers::string:
        return tables.strings.size();
    case Refers::part:
        return tables.parts.size();
    case Refers::step:
        return tables.steps.size();
    case Refers::cell:
        return tables.cells.size();
    case Refers::attempt:
        return tables.attempts.size();
    case Refers::metric_name:
        return tables.metric_names.size();
    case Refers::definition:
        return tables.definitions.size();
    }
    return 0;
}

template <typename T>
bool in_range(const Column<T>& column, std::size_t limit, bool nullable) {
    return std::all_of(column.begin(), column.end(),
                       [&](T value) { return value < limit || (nullable && value == null_value<T>); });
}

class Checker {
public:
    Checker(const Tables& tables, const std::string& source)
        : tables_(tables)
        , source_(source) {}

    template <typename Table>
    void check(std::string_view name, const Table& table) const {
        for_each_column(table, [&](const ColumnInfo& info, const auto& column) {
            require(column.size() == table.size(), name, info.name, "has another length than its neighbours");
            using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
            if constexpr (std::is_same_v<Value, std::uint32_t>)
                require(info.refers == Refers::nothing ||
                            in_range(column, rows_of(tables_, info.refers), info.nullable),
                        name, info.name, "refers to rows that are not there");
            if constexpr (std::is_same_v<Value, std::uint8_t>)
                require(info.names.empty() || in_range(column, info.names.size(), false), name, info.name,
                        "has unknown values");
        });
    }

    void check_axes() const {
        for (const AxisColumn& axis : tables_.cells.axes) {
            require(axis.codes.size() == tables_.cells.size(), "cells/axes", axis.name,
                    "has another length than the cells");
            require(axis.fields.size() == axis.values.size(), "axes", axis.name,
                    "has not one definition a value");
            require(in_range(axis.codes, axis.values.size() + 1, false), "cells/axes", axis.name,
                    "refers to values that are not there");
        }
    }

    void require(bool holds, std::string_view table, std::string_view column, const char* fault) const {
        if (!holds) throw FormatError(source_, 0, fmt::format("/{}/{} {}", table, column, fault));
    }

private:
    const Tables& tables_;
    const std::string& source_;
};

} // namespace

void check_tables(const Tables& tables, const std::string& source) {
    const Checker checker(tables, source);
    checker.require(!tables.strings.empty() && tables.strings.front().empty(), "strings", "0",
                    "is not the empty text");
    checker.require(tables.steps.spec.size() == tables.steps.size(), "steps", "spec_end",
                    "has not one text a step");
    Tables::tables(tables, [&](std::string_view name, const auto& table) { checker.check(name, table); });
    checker.check_axes();
    for (std::size_t i = 0; i < tables.definitions.size(); ++i) {
        axes_from_json(tables.text(tables.definitions.axes[i]));
        metrics_from_json(tables.text(tables.definitions.metrics[i]));
    }
}

} // namespace tessera
