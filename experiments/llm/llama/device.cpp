#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/llama/device.hpp>
#include <tessera/llama/torch_compat.hpp>

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include <dlfcn.h>

namespace tessera::llm {
namespace {

constexpr std::string_view cuda_prefix = "cuda:";

int cuda_index(const std::string& name) {
    if (name == "cuda") return 0;
    int index = -1;
    const char* const first = name.data() + cuda_prefix.size();
    const char* const last = name.data() + name.size();
    const auto [end, error] = std::from_chars(first, last, index);
    return error == std::errc() && end == last ? index : -1;
}

using SetBlasThreads = void (*)(int);

SetBlasThreads openblas_set_num_threads() {
    return reinterpret_cast<SetBlasThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
}

/// VmHWM rather than getrusage: the latter still shows the peak of the program that exec replaced.
std::uint64_t peak_resident_bytes() {
    constexpr std::string_view key = "VmHWM:";
    const std::string status = read_file("/proc/self/status");
    const std::size_t found = status.find(key);
    if (found == std::string::npos) return 0;
    const std::size_t digits = status.find_first_of("0123456789", found);
    std::uint64_t kibibytes = 0;
    std::from_chars(status.data() + digits, status.data() + status.size(), kibibytes);
    return kibibytes * 1024;
}

} // namespace

c10::Device parse_device(const std::string& name) {
    if (name == "cpu") return {c10::DeviceType::CPU};
    const bool is_cuda = name == "cuda" || name.starts_with(cuda_prefix);
    const int index = is_cuda ? cuda_index(name) : -1;
    if (index < 0) throw UserError(fmt::format("--device {}: unknown; choose cpu, cuda or cuda:N", name));
    const auto count = torch::cuda::is_available() ? static_cast<int>(torch::cuda::device_count()) : 0;
    if (index >= count) {
        throw UserError(
            fmt::format("--device {}: LibTorch {} sees {} CUDA devices; choose one of them or cpu", name,
                        compat::libtorch_version(), count));
    }
    return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)};
}

c10::ScalarType compute_type(const Precision& precision, const c10::Device& device) {
    switch (precision.compute) {
    case Precision::Compute::fp32:
        return c10::ScalarType::Float;
    case Precision::Compute::bf16:
        return c10::ScalarType::BFloat16;
    case Precision::Compute::fp16:
        break;
    }
    if (device.is_cpu() && !compat::half_on_cpu()) {
        throw UserError(fmt::format(
            "--precision {}: LibTorch {} has no fp16 matrix products on the CPU; use bf16, or cuda",
            precision.name, compat::libtorch_version()));
    }
    return c10::ScalarType::Half;
}

void set_operator_threads(int threads) {
    at::set_num_threads(threads);
    if (const SetBlasThreads set = openblas_set_num_threads()) set(threads);
}

void set_numeric_rules() {
    compat::forbid_reduced_fp32();
}

std::string libtorch_version() {
    return compat::libtorch_version();
}

std::string blas_name() {
    if (at::hasMKL()) return "mkl";
    return openblas_set_num_threads() != nullptr ? "openblas" : "other";
}

void wait_for_device(const c10::Device& device) {
    compat::synchronize(device);
}

std::uint64_t peak_memory_bytes(const c10::Device& device) {
    return compat::peak_device_bytes(device).value_or(peak_resident_bytes());
}

} // namespace tessera::llm
