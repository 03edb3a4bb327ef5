#include <tessera/base/error.hpp>
#include <tessera/base/id.hpp>
#include <tessera/store/file_seal.hpp>
#include <tessera/store/hdf5_io.hpp>
#include <tessera/store/iso_time.hpp>
#include <tessera/store/table_check.hpp>
#include <tessera/store/table_file.hpp>

#include <fmt/core.h>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr const char* format_name = "tessera-results";

std::string_view referred_path(Refers refers) {
    switch (refers) {
    case Refers::nothing:
        return {};
    case Refers::string:
        return "/strings";
    case Refers::part:
        return "/provenance";
    case Refers::step:
        return "/steps";
    case Refers::cell:
        return "/cells";
    case Refers::attempt:
        return "/attempts";
    case Refers::metric_name:
        return "/metric_names";
    case Refers::definition:
        return "/definitions";
    }
    return {};
}

template <typename T>
void describe(const Hdf5Folder& folder, const ColumnInfo& info) {
    const std::string name(info.name);
    if (!info.unit.empty()) folder.set_text(name, "unit", std::string(info.unit));
    if (info.refers != Refers::nothing)
        folder.set_text(name, "refers_to", std::string(referred_path(info.refers)));
    if (!info.names.empty()) folder.set_texts(name, "names", info.names);
    if constexpr (std::is_arithmetic_v<T>) {
        if (info.nullable) folder.set_number(name, "null", static_cast<std::int64_t>(null_value<T>));
    }
}

/// opened_ns -> opened_utc
std::string text_column(std::string_view name) {
    return std::string(name.substr(0, name.size() - 3)) + "_utc";
}

void write_times(const Hdf5Folder& folder, const ColumnInfo& info, const Column<std::int64_t>& times) {
    std::string texts;
    texts.reserve(times.size() * iso_time_size);
    for (const std::int64_t time : times)
        texts += time == null_value<std::int64_t> ? std::string(iso_time_size, '\0') : iso_time(time);
    folder.write_fixed_texts(text_column(info.name), texts, iso_time_size);
}

template <typename Table>
void write_columns(const Hdf5Folder& folder, const Table& table) {
    for_each_column(table, [&](const ColumnInfo& info, const auto& column) {
        using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
        folder.write<Value>(std::string(info.name), column);
        describe<Value>(folder, info);
        if constexpr (std::is_same_v<Value, std::int64_t>) {
            if (info.wall_time) write_times(folder, info, column);
        }
    });
}

template <typename Table>
void read_columns(const Hdf5Folder& folder, Table& table) {
    for_each_column(table, [&](const ColumnInfo& info, auto& column) {
        using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
        column = folder.read<Value>(std::string(info.name));
    });
}

/// Code 0 gets an entry too, so that a column of codes picks from the values directly.
void write_axes(const Hdf5Folder& root, const Hdf5Folder& cells, const CellTable& table) {
    const auto axes = root.create_folder("axes");
    const auto codes = cells.create_folder("axes");
    for (const AxisColumn& axis : table.axes) {
        const auto folder = axes.create_folder(axis.name);
        std::vector<std::string> values{"null"};
        std::vector<std::string> fields{"null"};
        values.insert(values.end(), axis.values.begin(), axis.values.end());
        fields.insert(fields.end(), axis.fields.begin(), axis.fields.end());
        folder.write_texts("value", values);
        folder.write_texts("definition", fields);
        folder.set_text(".", "type", axis.type);
        codes.write<std::uint32_t>(axis.name, axis.codes);
        codes.set_text(axis.name, "refers_to", "/axes/" + axis.name + "/value");
    }
}

void read_axes(const Hdf5Folder& root, const Hdf5Folder& cells, CellTable& table) {
    const auto axes = root.open_folder("axes");
    const auto codes = cells.open_folder("axes");
    for (const std::string& name : axes.names()) {
        const auto folder = axes.open_folder(name);
        AxisColumn axis{name, folder.text(".", "type"), folder.read_texts("value"),
                        folder.read_texts("definition"), codes.read<std::uint32_t>(name)};
        if (axis.values.empty() || axis.fields.empty())
            throw Hdf5Error("read", folder.where("value"), "no value for code 0");
        axis.values.erase(axis.values.begin());
        axis.fields.erase(axis.fields.begin());
        table.axes.push_back(std::move(axis));
    }
}

void write_specs(const Hdf5Folder& folder, const std::vector<std::string>& specs) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> ends;
    ends.reserve(specs.size());
    for (const std::string& spec : specs) {
        bytes.insert(bytes.end(), spec.begin(), spec.end());
        ends.push_back(bytes.size());
    }
    folder.write<std::uint8_t>("spec_text", bytes);
    folder.write<std::uint64_t>("spec_end", ends);
}

std::vector<std::string> read_specs(const Hdf5Folder& folder, StepTexts texts, std::size_t count) {
    std::vector<std::string> specs;
    if (texts == StepTexts::skip) {
        specs.resize(count);
        return specs;
    }
    const auto bytes = folder.read<std::uint8_t>("spec_text");
    std::size_t begin = 0;
    for (const std::uint64_t end : folder.read<std::uint64_t>("spec_end")) {
        if (end < begin || end > bytes.size())
            throw Hdf5Error("read", folder.where("spec_end"), "ends out of range");
        specs.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                           bytes.begin() + static_cast<std::ptrdiff_t>(end));
        begin = end;
    }
    return specs;
}

void write_content(const std::string& path, const Tables& tables, const CellResultTable* results) {
    const Hdf5Quiet quiet;
    Hdf5File file = create_hdf5_file(path);
    {
        const Hdf5Folder root(file, path);
        root.set_text(".", "format", format_name);
        root.set_number(".", "schema_version", schema_version);
        root.write_texts("strings", tables.strings);
        Tables::tables(tables, [&](std::string_view name, const auto& table) {
            const auto folder = root.create_folder(std::string(name));
            write_columns(folder, table);
            if constexpr (std::is_same_v<decltype(table), const CellTable&>) write_axes(root, folder, table);
            if constexpr (std::is_same_v<decltype(table), const StepTable&>) write_specs(folder, table.spec);
        });
        if (results != nullptr) write_columns(root.create_folder("cell_results"), *results);
    }
    close_hdf5_file(std::move(file), path);
}

Hdf5Folder open_root(const Hdf5File& file, const std::string& path) {
    Hdf5Folder root(file, path);
    if (root.text(".", "format") != format_name)
        throw FormatError(path, 0, "not a file of Tessera's results");
    if (const auto version = root.number(".", "schema_version"); version != schema_version)
        throw FormatError(path, 0,
                          fmt::format("schema version {}, this program reads {}", version, schema_version));
    return root;
}

} // namespace

void write_table_file(const std::string& path, const Tables& tables, FileLayer& files,
                      const CellResultTable* results) {
    const std::string temporary = path + ".tmp-" + Id128::random().short_hex(12);
    try {
        write_content(temporary, tables, results);
        seal_file(temporary);
        files.sync_data(files.open(temporary, O_RDWR, 0600).get(), temporary);
        files.rename(temporary, path);
        files.sync_folder(parent_folder(path));
    } catch (const Error&) {
        ::unlink(temporary.c_str());
        throw;
    }
}

Tables read_table_file(const std::string& path, StepTexts texts) {
    check_seal(path);
    const Hdf5Quiet quiet;
    const Hdf5File file = open_hdf5_file(path);
    const Hdf5Folder root = open_root(file, path);
    Tables tables;
    tables.strings = root.read_texts("strings");
    Tables::tables(tables, [&](std::string_view name, auto& table) {
        const auto folder = root.open_folder(std::string(name));
        read_columns(folder, table);
        if constexpr (std::is_same_v<decltype(table), CellTable&>) read_axes(root, folder, table);
        if constexpr (std::is_same_v<decltype(table), StepTable&>)
            table.spec = read_specs(folder, texts, table.size());
    });
    check_tables(tables, path);
    return tables;
}

} // namespace tessera
