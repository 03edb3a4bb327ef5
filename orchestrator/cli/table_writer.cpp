#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/base/value.hpp>
#include <tessera/cli/table_writer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <sys/ioctl.h>

#include <unistd.h>

namespace tessera {

namespace {

constexpr std::string_view column_gap = "  ";
constexpr std::size_t narrowest_cut_column = 8;
constexpr std::string_view ellipsis = "\u2026";

std::string non_finite_name(double value) {
    if (std::isnan(value)) return "NaN";
    return value > 0 ? "Infinity" : "-Infinity";
}

bool is_number(const TableCell& cell) {
    return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

bool is_null(const TableCell& cell) {
    return std::holds_alternative<std::monostate>(cell);
}

/// A cell in full: what scripts get.
std::string exact_text(const TableCell& cell) {
    if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&cell))
        return std::isfinite(*number) ? format_float(*number) : non_finite_name(*number);
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return {};
}

/// Control characters shown, not acted on, so that a metric's text cannot drive the terminal or break the
/// columns.
std::string printable(std::string_view bytes) {
    const std::string repaired = repair_utf8(bytes);
    std::string text;
    for (std::size_t i = 0; i < repaired.size(); ++i) {
        const auto byte = static_cast<unsigned char>(repaired[i]);
        const bool c1 = byte == 0xC2 && static_cast<unsigned char>(repaired[i + 1]) < 0xA0;
        if (byte == '\n')
            text += "\\n";
        else if (byte == '\t')
            text += "\\t";
        else if (byte == '\r')
            text += "\\r";
        else if (c1)
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(repaired[++i]));
        else if (byte < 0x20 || byte == 0x7F)
            text += fmt::format("\\x{:02x}", byte);
        else
            text += repaired[i];
    }
    return text;
}

/// A cell for people.
std::string short_text(const TableCell& cell) {
    if (is_null(cell)) return "-";
    if (const auto* number = std::get_if<double>(&cell); number != nullptr && std::isfinite(*number))
        return fmt::format("{:.6g}", *number);
    return printable(exact_text(cell));
}

struct Column {
    bool right_aligned = false;
    std::size_t width = 0;
};

/// Numbers alone, nulls apart, are aligned to the right.
std::vector<bool> right_aligned_columns(const TextTable& table) {
    std::vector<bool> all_numbers(table.headers.size(), true);
    std::vector<bool> any_number(table.headers.size(), false);
    for (const auto& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (is_number(row[i]))
                any_number[i] = true;
            else if (!is_null(row[i]))
                all_numbers[i] = false;
        }
    for (std::size_t i = 0; i < all_numbers.size(); ++i)
        all_numbers[i] = all_numbers[i] && any_number[i];
    return all_numbers;
}

std::vector<Column> measure(const TextTable& table) {
    std::vector<Column> columns(table.headers.size());
    const auto right = right_aligned_columns(table);
    for (std::size_t i = 0; i < columns.size(); ++i)
        columns[i] = {right[i], display_width(printable(table.headers[i]))};
    for (const auto& row : table.rows)
        for (std::size_t i = 0; i < columns.size(); ++i)
            columns[i].width = std::max(columns[i].width, display_width(short_text(row[i])));
    return columns;
}

/// Takes width from the widest text column until the line fits or no column can give any.
void fit(std::vector<Column>& columns, std::size_t max_width) {
    std::size_t total = column_gap.size() * (columns.empty() ? 0 : columns.size() - 1);
    for (const Column& column : columns)
        total += column.width;
    while (total > max_width) {
        Column* widest = nullptr;
        for (Column& column : columns)
            if (!column.right_aligned && column.width > narrowest_cut_column &&
                (widest == nullptr || column.width > widest->width))
                widest = &column;
        if (widest == nullptr) return;
        --widest->width;
        --total;
    }
}

std::string cut(const std::string& text, std::size_t width) {
    if (display_width(text) <= width) return text;
    std::size_t end = text.size();
    while (end > 0) {
        do
            --end;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U);
        if (display_width(std::string_view(text).substr(0, end)) + 1 <= width) break;
    }
    return text.substr(0, end) + std::string(ellipsis);
}

void append_line(std::string& line, const std::vector<std::string>& texts,
                 const std::vector<Column>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string text = columns[i].right_aligned ? texts[i] : cut(texts[i], columns[i].width);
        const std::size_t used = display_width(text);
        const std::string padding(columns[i].width > used ? columns[i].width - used : 0, ' ');
        if (i > 0) line += column_gap;
        if (columns[i].right_aligned)
            line += padding + text;
        else
            line += text + padding;
    }
    while (!line.empty() && line.back() == ' ')
        line.pop_back();
    line += '\n';
}

void write_aligned(std::ostream& out, const TextTable& table, std::size_t max_width) {
    auto columns = measure(table);
    if (max_width > 0) fit(columns, max_width);
    std::vector<std::string> texts;
    std::string line;
    for (const std::string& header : table.headers)
        texts.push_back(printable(header));
    append_line(line, texts, columns);
    for (std::size_t i = 0; i < columns.size(); ++i)
        texts[i] = std::string(columns[i].width, '-');
    append_line(line, texts, columns);
    out << line;
    for (const auto& row : table.rows) {
        line.clear();
        for (std::size_t i = 0; i < columns.size(); ++i)
            texts[i] = short_text(row[i]);
        append_line(line, texts, columns);
        out << line;
    }
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

void write_csv(std::ostream& out, const TextTable& table) {
    std::string line;
    for (std::size_t i = 0; i < table.headers.size(); ++i) {
        if (i > 0) line += ',';
        line += csv_field(table.headers[i]);
    }
    out << line << '\n';
    for (const auto& row : table.rows) {
        line.clear();
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) line += ',';
            line += csv_field(exact_text(row[i]));
        }
        out << line << '\n';
    }
}

std::string json_string(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_value(const TableCell& cell) {
    if (is_null(cell)) return "null";
    const auto* number = std::get_if<double>(&cell);
    const bool quoted =
        std::holds_alternative<std::string>(cell) || (number != nullptr && !std::isfinite(*number));
    return quoted ? json_string(exact_text(cell)) : exact_text(cell);
}

void write_json(std::ostream& out, const TextTable& table) {
    std::vector<std::string> keys;
    for (const std::string& header : table.headers)
        keys.push_back(json_string(header));
    out << '[';
    std::string_view separator = "\n";
    for (const auto& row : table.rows) {
        std::string line(separator);
        line += "  {";
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) line += ", ";
            line += keys[i] + ": " + json_value(row[i]);
        }
        out << line << '}';
        separator = ",\n";
    }
    out << (table.rows.empty() ? "]\n" : "\n]\n");
}

std::string markdown_field(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '|' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

void write_markdown(std::ostream& out, const TextTable& table) {
    out << '|';
    for (const std::string& header : table.headers)
        out << ' ' << markdown_field(printable(header)) << " |";
    out << "\n|";
    for (const bool right : right_aligned_columns(table))
        out << (right ? "---:|" : "---|");
    out << '\n';
    for (const auto& row : table.rows) {
        out << '|';
        for (const TableCell& cell : row)
            out << ' ' << (is_null(cell) ? std::string() : markdown_field(short_text(cell))) << " |";
        out << '\n';
    }
}

} // namespace

TableFormat parse_table_format(std::string_view name) {
    static constexpr std::array<TableFormat, 4> formats{TableFormat::table, TableFormat::csv,
                                                        TableFormat::json, TableFormat::markdown};
    const std::array<std::string, 4> names{"table", "csv", "json", "markdown"};
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return formats[i];
    throw UserError(
        fmt::format("unknown format '{}'{}; use {}", name, did_you_mean(name, names), table_format_names));
}

void write_table(std::ostream& out, const TextTable& table, TableFormat format, std::size_t max_width) {
    switch (format) {
    case TableFormat::table:
        return write_aligned(out, table, max_width);
    case TableFormat::csv:
        return write_csv(out, table);
    case TableFormat::json:
        return write_json(out, table);
    case TableFormat::markdown:
        return write_markdown(out, table);
    }
}

std::size_t terminal_width() {
    winsize size{};
    if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

} // namespace tessera
