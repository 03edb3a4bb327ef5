#pragma once

// All that differs between LibTorch 1.13 and 2.x, and between builds with and without CUDA. Narrow headers on
// purpose: <torch/torch.h> costs half a minute for each file that includes it.

#include <torch/cuda.h>
#include <torch/version.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#if TORCH_VERSION_MAJOR >= 2
#include <ATen/ops/scaled_dot_product_attention.h>
#endif
#ifdef TESSERA_LLM_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::llm::compat {

inline std::string libtorch_version() {
    return TORCH_VERSION;
}

/// Matrix products of fp16 on the CPU came with LibTorch 2.3.
constexpr bool half_on_cpu() {
    return TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3);
}

/// Keeps fp32 products in fp32 (no TF32) on devices that would round.
inline void forbid_reduced_fp32() {
    at::globalContext().setFloat32MatmulPrecision("highest");
}

/// LibTorch's own fused causal attention, where this version and device have one; q, k, v are [batch, heads,
/// T, dim] with equal numbers of heads.
inline std::optional<at::Tensor> fused_causal_attention([[maybe_unused]] const at::Tensor& q,
                                                        [[maybe_unused]] const at::Tensor& k,
                                                        [[maybe_unused]] const at::Tensor& v) {
#if TORCH_VERSION_MAJOR >= 2
    if (q.is_cuda()) return at::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
#endif
    return std::nullopt;
}

/// Waits for all work on a CUDA device; the CPU has none outstanding.
inline void synchronize(const at::Device& device) {
    if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

/// The most bytes that tensors on the device have held at once; empty on the CPU.
inline std::optional<std::uint64_t> peak_device_bytes([[maybe_unused]] const at::Device& device) {
#ifdef TESSERA_LLM_CUDA
    if (device.is_cuda()) {
        const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
        return static_cast<std::uint64_t>(stats.allocated_bytes[0].peak);
    }
#endif
    return std::nullopt;
}

} // namespace tessera::llm::compat
