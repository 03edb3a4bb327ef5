#include <tessera/base/error.hpp>
#include <tessera/llama/device.hpp>
#include <tessera/program/setup.hpp>
#include <tessera/quantization/storage.hpp>

#include <fmt/core.h>

namespace tessera::llm {

Llama load_model(const Checkpoint& checkpoint, const CommonOptions& options, std::int64_t positions) {
    const ModelConfig& config = checkpoint.config();
    if (positions > config.max_positions) {
        throw UserError(
            fmt::format("{}: the model has {} positions, {} were asked for; shorten the context, or prompt "
                        "and generation",
                        checkpoint.folder(), config.max_positions, positions));
    }
    const WeightOptions weights{options.precision, options.group_size, parse_device(options.device)};
    return {config, load_weights(checkpoint, weights), positions};
}

void describe_model(Report& report, const Checkpoint& checkpoint, const CommonOptions& options) {
    const ModelStorage storage = model_storage(checkpoint.config(), options.precision, options.group_size);
    const bool quantized = options.precision.quantized();
    report["precision"] = options.precision.name;
    report["group_size"] = quantized ? Report(options.group_size) : Report(nullptr);
    report["quantizer"] =
        quantized ? Report("round to nearest, symmetric, group-wise, decoder linears") : Report(nullptr);
    report["arithmetic"] = quantized ? "simulated" : "real";
    report["compute_type"] = quantized ? "fp32" : options.precision.name;
    report["parameters"] = storage.parameters;
    report["model_bytes"] = storage.model_bytes;
    report["model_bytes_definition"] = model_bytes_definition();
    report["effective_bits"] = storage.effective_bits();
    report["compression_ratio"] = storage.compression_ratio();
    report["compression_numerator_bits"] = storage.linear_fp32_bits;
    report["compression_denominator_bits"] = storage.linear_stored_bits;
    report["device"] = options.device;
    report["threads"] = options.threads;
    report["libtorch"] = libtorch_version();
    report["blas"] = blas_name();
    report["model_sha256"] = checkpoint.content_sha256();
}

std::vector<Metric> model_metrics() {
    return {
        {"model_bytes", "B", "lower"},
        {"effective_bits", "bit", "lower"},
        {"compression_ratio", "", "higher"},
        {"peak_memory_bytes", "B", "lower"},
        {"load_s", "s", "lower"},
        {"arithmetic", "", ""},
        {"libtorch", "", ""},
        {"model_sha256", "", ""},
    };
}

} // namespace tessera::llm
