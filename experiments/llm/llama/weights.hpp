#pragma once

#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/quantization/precision.hpp>

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace tessera::llm {

/// Weights of one decoder layer. Projections that read the same input are one matrix: fewer, larger products.
struct LayerWeights {
    at::Tensor attention_norm;
    at::Tensor query_key_value;
    at::Tensor attention_output;
    at::Tensor mlp_norm;
    at::Tensor gate_up;
    at::Tensor down;
};

struct LlamaWeights {
    at::Tensor embedding;
    std::vector<LayerWeights> layers;
    at::Tensor final_norm;
    /// The embedding itself where they are tied.
    at::Tensor head;
};

struct WeightOptions {
    Precision precision;
    std::int64_t group_size = 128;
    at::Device device = at::kCPU;
};

/// Loads every weight to the device in the precision's compute type. Quantized weights are replaced by the
/// values that their integers stand for: the quantization is exact, the arithmetic simulated. Throws
/// CheckpointError, UserError.
LlamaWeights load_weights(const Checkpoint& checkpoint, const WeightOptions& options);

} // namespace tessera::llm
