#pragma once

#include <tessera/base/table.hpp>

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tessera {

enum class TableFormat {
    table,    ///< aligned columns for people; floats to six digits, null as "-", control characters escaped
    csv,      ///< RFC 4180's quoting with lines ended by LF; null as nothing, floats in full
    json,     ///< an array of row objects, one a line; NaN and infinities as strings
    markdown, ///< a GitHub table
};

/// Throws UserError with a suggestion for an unknown name.
TableFormat parse_table_format(std::string_view name);

/// The names for a help text: "table, csv, json or markdown".
inline constexpr std::string_view table_format_names = "table, csv, json or markdown";

/// `max_width` (in terminal columns; 0: no limit) holds for TableFormat::table alone: the widest text columns
/// are cut to fit, numbers never.
void write_table(std::ostream& out, const TextTable& table, TableFormat format, std::size_t max_width = 0);

/// Columns of the terminal on standard output; 0 if it is not a terminal, so that files and pipes get
/// everything.
std::size_t terminal_width();

/// Terminal columns that UTF-8 text takes: wide East Asian characters and emoji two, combining marks none.
std::size_t display_width(std::string_view text);

} // namespace tessera
