#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/quantization/storage.hpp>

namespace tessera::llm {
namespace {

constexpr std::int64_t scale_bits = 16;
constexpr std::int64_t fp32_bits = 32;

std::int64_t quantized_bits(std::int64_t rows, std::int64_t row_size, int bits, std::int64_t group_size) {
    const std::int64_t groups = (row_size + group_size - 1) / group_size;
    return rows * (row_size * bits + groups * scale_bits);
}

} // namespace

bool is_decoder_linear(const std::string& tensor_name) {
    return tensor_name.starts_with("model.layers.") && tensor_name.ends_with("_proj.weight");
}

double ModelStorage::compression_ratio() const {
    return static_cast<double>(linear_fp32_bits) / static_cast<double>(linear_stored_bits);
}

double ModelStorage::effective_bits() const {
    return static_cast<double>(linear_stored_bits) / static_cast<double>(linear_weights);
}

std::string model_bytes_definition() {
    return "all parameters, tied embeddings once; decoder linears packed at their bits plus one 16-bit scale "
           "a group, "
           "the rest in the compute type";
}

ModelStorage model_storage(const ModelConfig& config, const Precision& precision, std::int64_t group_size) {
    const std::int64_t compute_bits = std::int64_t{8} * compute_size_bytes(precision.compute);
    ModelStorage storage;
    std::int64_t other_bits = 0;
    for (const auto& [name, shape] : expected_tensors(config)) {
        const std::int64_t row_size = shape.back();
        const std::int64_t rows = shape.size() == 2 ? shape.front() : 1;
        const std::int64_t elements = rows * row_size;
        storage.parameters += elements;
        if (!is_decoder_linear(name)) {
            other_bits += elements * compute_bits;
            continue;
        }
        const std::int64_t stored = precision.quantized()
                                        ? quantized_bits(rows, row_size, precision.integer_bits, group_size)
                                        : elements * compute_bits;
        storage.linear_weights += elements;
        storage.linear_fp32_bits += static_cast<std::uint64_t>(elements * fp32_bits);
        storage.linear_stored_bits += static_cast<std::uint64_t>(stored);
    }
    storage.model_bytes = (storage.linear_stored_bits + static_cast<std::uint64_t>(other_bits) + 7) / 8;
    return storage;
}

} // namespace tessera::llm
