#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// What the weights are stored in. Embeddings, norms and the output head always keep the compute type.
struct Precision {
    enum class Compute { fp32, bf16, fp16 };

    std::string name;
    /// The type of the arithmetic and of every weight that is not quantized.
    Compute compute = Compute::fp32;
    /// Bits of the integer grid of the decoder's linear weights; 0 means that they are not quantized.
    int integer_bits = 0;

    bool quantized() const { return integer_bits != 0; }
};

/// Bytes of one element of the compute type.
int compute_size_bytes(Precision::Compute compute);

/// fp32, bf16, fp16, or intB for B of 2, 3, 4, 5, 6, 8 or 16 with fp32 arithmetic. Throws UserError naming
/// the choices.
Precision parse_precision(std::string_view name);

std::vector<std::string> precision_names();

} // namespace tessera::llm
