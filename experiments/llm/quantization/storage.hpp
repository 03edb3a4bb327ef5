#pragma once

#include <tessera/checkpoint/model_config.hpp>
#include <tessera/quantization/precision.hpp>

#include <cstdint>
#include <string>

namespace tessera::llm {

/// What a model takes in a precision, by two ways of counting that must not be mixed.
struct ModelStorage {
    /// All parameters (tied embeddings once), each weight packed without padding bits, scales included,
    /// rounded up.
    std::uint64_t model_bytes = 0;
    std::int64_t parameters = 0;
    /// The study's count: the decoder's linear weights only, in fp32, and as stored with their 16-bit scales.
    std::uint64_t linear_fp32_bits = 0;
    std::uint64_t linear_stored_bits = 0;
    std::int64_t linear_weights = 0;

    double compression_ratio() const;
    /// Stored bits for each of the decoder's linear weights, scales included.
    double effective_bits() const;
};

/// How model_bytes counts, for output beside the number.
std::string model_bytes_definition();

/// A quantized [out, in] weight takes out * (in * bits + ceil(in / group_size) * 16) bits.
ModelStorage model_storage(const ModelConfig& config, const Precision& precision, std::int64_t group_size);

/// True for the weights that the study quantizes: the linear modules inside the decoder's layers.
bool is_decoder_linear(const std::string& tensor_name);

} // namespace tessera::llm
