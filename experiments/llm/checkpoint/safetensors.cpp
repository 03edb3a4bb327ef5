#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/checkpoint/json.hpp>
#include <tessera/checkpoint/safetensors.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tessera::llm {
namespace {

struct DtypeRow {
    Dtype dtype;
    std::string_view name;
    std::size_t size_bytes;
};

constexpr std::array<DtypeRow, 15> dtypes{{
    {Dtype::boolean, "BOOL", 1},
    {Dtype::u8, "U8", 1},
    {Dtype::i8, "I8", 1},
    {Dtype::f8_e5m2, "F8_E5M2", 1},
    {Dtype::f8_e4m3, "F8_E4M3", 1},
    {Dtype::i16, "I16", 2},
    {Dtype::u16, "U16", 2},
    {Dtype::f16, "F16", 2},
    {Dtype::bf16, "BF16", 2},
    {Dtype::i32, "I32", 4},
    {Dtype::u32, "U32", 4},
    {Dtype::f32, "F32", 4},
    {Dtype::f64, "F64", 8},
    {Dtype::i64, "I64", 8},
    {Dtype::u64, "U64", 8},
}};

constexpr std::size_t length_field_bytes = 8;
const char* const refetch = "the file is damaged or incomplete: download it again";

const DtypeRow& row_of(Dtype dtype) {
    return dtypes.at(static_cast<std::size_t>(dtype));
}

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
    throw CheckpointError(path, problem, refetch);
}

std::uint64_t read_header_length(std::span<const std::byte> file, const std::string& path) {
    if (file.size() < length_field_bytes) {
        fail(path, fmt::format("{} bytes are too few for a safetensors file", file.size()));
    }
    std::uint64_t length = 0;
    for (std::size_t i = length_field_bytes; i-- > 0;) {
        length = length << 8 | std::to_integer<std::uint64_t>(file[i]);
    }
    if (length > max_safetensors_header_bytes) {
        fail(path, fmt::format("the header claims {} bytes, more than the format's limit of {}", length,
                               max_safetensors_header_bytes));
    }
    if (length > file.size() - length_field_bytes) {
        fail(path, fmt::format("the header claims {} bytes, but only {} follow its length", length,
                               file.size() - length_field_bytes));
    }
    return length;
}

/// Product of the dimensions times the element size; empty if it exceeds what a 64-bit offset can hold.
std::optional<std::uint64_t> tensor_size_bytes(const std::vector<std::int64_t>& shape, Dtype dtype) {
    std::uint64_t size = dtype_size_bytes(dtype);
    for (const std::int64_t extent : shape) {
        const auto factor = static_cast<std::uint64_t>(extent);
        if (factor != 0 && size > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
        size *= factor;
    }
    return size;
}

std::vector<std::int64_t> read_shape(const nlohmann::json& value, const std::string& name,
                                     const std::string& path) {
    if (!value.is_array()) fail(path, fmt::format("tensor '{}' has no list as its shape", name));
    std::vector<std::int64_t> shape;
    for (const auto& extent : value) {
        const auto number = json_count(extent);
        if (!number) {
            fail(path, fmt::format("tensor '{}' has the dimension {}, which is no count", name,
                                   json_excerpt(extent)));
        }
        shape.push_back(*number);
    }
    return shape;
}

std::pair<std::uint64_t, std::uint64_t> read_offsets(const nlohmann::json& value, const std::string& name,
                                                     const std::string& path) {
    const bool is_pair = value.is_array() && value.size() == 2;
    const auto begin = is_pair ? json_count(value[0]) : std::nullopt;
    const auto end = is_pair ? json_count(value[1]) : std::nullopt;
    if (!begin || !end || *begin > *end) {
        fail(path, fmt::format("tensor '{}' has the data_offsets {}, which are no range", name,
                               json_excerpt(value)));
    }
    return {static_cast<std::uint64_t>(*begin), static_cast<std::uint64_t>(*end)};
}

const nlohmann::json& field(const nlohmann::json& tensor, const char* key, const std::string& name,
                            const std::string& path) {
    const auto found = tensor.is_object() ? tensor.find(key) : tensor.end();
    if (!tensor.is_object() || found == tensor.end()) {
        fail(path, fmt::format("tensor '{}' has no {} in the header", name, key));
    }
    return *found;
}

/// Offsets in the result still count from the start of the data section.
TensorEntry read_entry(const std::string& name, const nlohmann::json& value, const std::string& path) {
    TensorEntry entry;
    entry.name = name;
    const nlohmann::json& dtype = field(value, "dtype", name, path);
    const auto parsed = dtype.is_string() ? parse_dtype(dtype.get_ref<const std::string&>()) : std::nullopt;
    if (!parsed) fail(path, fmt::format("tensor '{}' has the unknown dtype {}", name, json_excerpt(dtype)));
    entry.dtype = *parsed;
    entry.shape = read_shape(field(value, "shape", name, path), name, path);
    const auto [begin, end] = read_offsets(field(value, "data_offsets", name, path), name, path);
    const auto size = tensor_size_bytes(entry.shape, entry.dtype);
    if (!size) fail(path, fmt::format("tensor '{}' has a shape whose size overflows", name));
    if (*size != end - begin) {
        fail(path, fmt::format("tensor '{}' needs {} bytes for its shape, but its data_offsets span {}", name,
                               *size, end - begin));
    }
    entry.begin = begin;
    entry.size_bytes = *size;
    return entry;
}

void check_metadata(const nlohmann::json& metadata, const std::string& path) {
    const bool good = metadata.is_object() && std::all_of(metadata.begin(), metadata.end(),
                                                          [](const auto& item) { return item.is_string(); });
    if (!good) fail(path, "__metadata__ is not a map of strings");
}

void check_coverage(const std::vector<TensorEntry>& entries, std::uint64_t data_bytes,
                    const std::string& path) {
    std::uint64_t next = 0;
    for (const TensorEntry& entry : entries) {
        if (entry.begin != next) {
            fail(path,
                 fmt::format("the data of tensor '{}' starts at {} where {} was due: {}", entry.name,
                             entry.begin, next, entry.begin < next ? "tensors overlap" : "there is a hole"));
        }
        next += entry.size_bytes;
        if (next > data_bytes) {
            fail(path, fmt::format("tensor '{}' ends at byte {} of the data, but the file has only {}",
                                   entry.name, next, data_bytes));
        }
    }
    if (next != data_bytes) {
        fail(path, fmt::format("{} bytes after the last tensor belong to none", data_bytes - next));
    }
}

} // namespace

std::optional<Dtype> parse_dtype(std::string_view name) {
    const auto row =
        std::find_if(dtypes.begin(), dtypes.end(), [&](const DtypeRow& r) { return r.name == name; });
    if (row == dtypes.end()) return std::nullopt;
    return row->dtype;
}

std::string_view dtype_name(Dtype dtype) {
    return row_of(dtype).name;
}

std::size_t dtype_size_bytes(Dtype dtype) {
    return row_of(dtype).size_bytes;
}

std::vector<TensorEntry> parse_safetensors(std::span<const std::byte> file, const std::string& path) {
    const std::uint64_t header_bytes = read_header_length(file, path);
    const auto* text = reinterpret_cast<const char*>(file.data()) + length_field_bytes;
    const std::string_view header(text, header_bytes);
    if (header.empty() || header.front() != '{') fail(path, "the header does not start with '{'");
    const nlohmann::json root = parse_json_object(header, path, refetch);

    std::vector<TensorEntry> entries;
    for (const auto& [name, value] : root.items()) {
        if (name == "__metadata__") {
            check_metadata(value, path);
        } else {
            entries.push_back(read_entry(name, value, path));
        }
    }
    std::sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
        return std::pair(a.begin, a.size_bytes) < std::pair(b.begin, b.size_bytes);
    });
    const std::uint64_t data_begin = length_field_bytes + header_bytes;
    check_coverage(entries, file.size() - data_begin, path);
    for (TensorEntry& entry : entries)
        entry.begin += data_begin;
    return entries;
}

} // namespace tessera::llm
