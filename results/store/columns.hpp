#pragma once

#include <tessera/base/id.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tessera {

/// What the numbers of a column stand for: themselves, codes into /strings, or rows of another table. When
/// tables are united, such numbers are translated.
enum class Refers : std::uint8_t { nothing, string, part, step, cell, attempt, metric_name, definition };

/// A value that is absent, by the type of its column. Only columns that are marked nullable have it.
template <typename T>
inline constexpr T null_value = std::numeric_limits<T>::min();
template <>
inline constexpr std::uint32_t null_value<std::uint32_t> = std::numeric_limits<std::uint32_t>::max();

inline constexpr std::uint32_t null_code = null_value<std::uint32_t>;

struct ColumnInfo {
    std::string_view name;
    Refers refers = Refers::nothing;
    std::string_view unit = {};
    bool nullable = false;
    std::span<const std::string_view> names = {}; ///< of the values of an enumeration, in their order
    bool wall_time = false; ///< nanoseconds since 1970: written once more as ISO 8601 text
};

template <typename T>
using Column = std::vector<T>;

/// Calls visit(info, column) for each column of `table`; every table lists its columns once, in its static
/// member `columns`, and reading, writing and uniting go through it.
template <typename Table, typename Visit>
void for_each_column(Table& table, Visit&& visit) {
    std::remove_const_t<Table>::columns(table, visit);
}

/// The same for two tables of one type: visit(info, column of `a`, column of `b`).
template <typename Table, typename Visit>
void for_each_column_pair(Table& a, const Table& b, Visit&& visit) {
    std::vector<const void*> others;
    for_each_column(b, [&](const ColumnInfo&, const auto& column) { others.push_back(&column); });
    std::size_t next = 0;
    for_each_column(a, [&](const ColumnInfo& info, auto& column) {
        // Both list the same columns in the same order, so the types agree.
        visit(info, column, *static_cast<const std::remove_reference_t<decltype(column)>*>(others[next++]));
    });
}

} // namespace tessera
