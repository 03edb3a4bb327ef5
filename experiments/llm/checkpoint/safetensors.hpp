#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// The element types that a safetensors header may name.
enum class Dtype {
    boolean,
    u8,
    i8,
    f8_e5m2,
    f8_e4m3,
    i16,
    u16,
    f16,
    bf16,
    i32,
    u32,
    f32,
    f64,
    i64,
    u64,
};

std::optional<Dtype> parse_dtype(std::string_view name);
std::string_view dtype_name(Dtype dtype);
std::size_t dtype_size_bytes(Dtype dtype);

struct TensorEntry {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::vector<std::int64_t> shape;
    /// Position in the file, not in the data section.
    std::uint64_t begin = 0;
    std::uint64_t size_bytes = 0;
};

/// A header longer than this is refused, as the reference implementation refuses it.
inline constexpr std::uint64_t max_safetensors_header_bytes = 100'000'000;

/// Checks and reads the header of a whole safetensors file held in `file`; entries come in the order of their
/// data. Guarantees that every entry lies inside `file`, that entries neither overlap nor leave holes, that
/// names are unique and that each size is its shape times its element size. Throws CheckpointError naming
/// `path`. Format: https://github.com/huggingface/safetensors
std::vector<TensorEntry> parse_safetensors(std::span<const std::byte> file, const std::string& path);

} // namespace tessera::llm
