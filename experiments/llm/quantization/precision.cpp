#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/quantization/precision.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tessera::llm {
namespace {

using Compute = Precision::Compute;

const std::array<Precision, 10>& precisions() {
    static const std::array<Precision, 10> all{{
        {"fp32", Compute::fp32, 0},
        {"bf16", Compute::bf16, 0},
        {"fp16", Compute::fp16, 0},
        {"int16", Compute::fp32, 16},
        {"int8", Compute::fp32, 8},
        {"int6", Compute::fp32, 6},
        {"int5", Compute::fp32, 5},
        {"int4", Compute::fp32, 4},
        {"int3", Compute::fp32, 3},
        {"int2", Compute::fp32, 2},
    }};
    return all;
}

} // namespace

int compute_size_bytes(Compute compute) {
    return compute == Compute::fp32 ? 4 : 2;
}

std::vector<std::string> precision_names() {
    std::vector<std::string> names;
    for (const Precision& precision : precisions())
        names.push_back(precision.name);
    return names;
}

Precision parse_precision(std::string_view name) {
    const auto& all = precisions();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Precision& p) { return p.name == name; });
    if (found != all.end()) return *found;
    const auto names = precision_names();
    throw UserError(fmt::format("--precision {}: unknown{}; choose one of {}", name,
                                did_you_mean(name, names), fmt::join(names, ", ")));
}

} // namespace tessera::llm
