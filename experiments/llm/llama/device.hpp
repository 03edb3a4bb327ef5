#pragma once

#include <tessera/quantization/precision.hpp>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <cstdint>
#include <string>

namespace tessera::llm {

/// "cpu", "cuda" or "cuda:N". Throws UserError if this LibTorch cannot use it.
c10::Device parse_device(const std::string& name);

/// The element type of a precision's arithmetic. Throws UserError if the device cannot compute in it.
c10::ScalarType compute_type(const Precision& precision, const c10::Device& device);

/// Threads of this program's own CPU work and of the BLAS library below LibTorch, which LibTorch does not set
/// itself.
void set_operator_threads(int threads);

/// Starts every calculation from the same rules: fp32 stays fp32.
void set_numeric_rules();

/// Such as "2.11.0".
std::string libtorch_version();

/// The name of the BLAS library in use, as far as it can be told: "mkl", "openblas" or "other", which is
/// mostly the reference BLAS, several times slower in fp32.
std::string blas_name();

void wait_for_device(const c10::Device& device);

/// The most memory in use at once: on the device for CUDA, of the process (resident) for the CPU.
std::uint64_t peak_memory_bytes(const c10::Device& device);

} // namespace tessera::llm
