#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/llama/device.hpp>
#include <tessera/program/benchmark.hpp>
#include <tessera/program/setup.hpp>
#include <tessera/program/stopwatch.hpp>
#include <tessera/program/text_file.hpp>

#include <ATen/ops/empty.h>
#include <algorithm>
#include <c10/core/InferenceMode.h>
#include <cmath>
#include <numeric>
#include <random>

namespace tessera::llm {
namespace {

/// One measured run.
struct Timing {
    double first_token_s = 0.0;
    double other_tokens_s = 0.0;
};

struct Series {
    std::vector<double> values;

    double mean() const {
        return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    }

    /// Sample standard deviation; 0 for a single value.
    double std_dev() const {
        if (values.size() < 2) return 0.0;
        const double centre = mean();
        double squares = 0.0;
        for (const double value : values)
            squares += (value - centre) * (value - centre);
        return std::sqrt(squares / static_cast<double>(values.size() - 1));
    }
};

/// Uniform over the vocabulary: what the tokens are does not matter to the speed of a dense model.
std::vector<std::int64_t> random_tokens(std::int64_t count, std::uint64_t seed, std::int64_t vocabulary) {
    std::mt19937_64 generator(seed);
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < count; ++i)
        tokens.push_back(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(vocabulary)));
    return tokens;
}

/// The first tokens of a text, over and over if it is short.
std::vector<std::int64_t> text_tokens(std::int64_t count, const std::string& path,
                                      const Checkpoint& checkpoint) {
    const std::vector<std::int32_t> text = load_tokenizer(checkpoint)->encode(read_text(path));
    if (text.empty()) throw CheckpointError(path, "an empty text", "name a text with --data, or none");
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < count; ++i)
        tokens.push_back(text[static_cast<std::size_t>(i) % text.size()]);
    return tokens;
}

/// Shape [batch, prompt].
at::Tensor make_prompt(const BenchmarkOptions& options, const Checkpoint& checkpoint, const Llama& model) {
    const std::int64_t count = options.batch * options.prompt;
    const auto values = options.data.empty() ? random_tokens(count, options.seed, model.config().vocab_size)
                                             : text_tokens(count, options.data, checkpoint);
    const at::Tensor tokens = at::empty({options.batch, options.prompt}, at::TensorOptions(at::kLong));
    std::copy(values.begin(), values.end(), tokens.data_ptr<std::int64_t>());
    return tokens.to(model.device());
}

/// The likeliest token after each sequence, [batch, 1].
at::Tensor next_tokens(const Llama& model, const at::Tensor& tokens, KvCache& cache) {
    const at::Tensor hidden = model.hidden_states(tokens, &cache);
    const at::Tensor last = hidden.narrow(1, hidden.size(1) - 1, 1);
    const at::Tensor chosen = model.logits(last).argmax(-1);
    wait_for_device(model.device());
    return chosen;
}

Timing run_once(const Llama& model, const at::Tensor& prompt, const BenchmarkOptions& options) {
    KvCache cache = model.make_cache(options.batch, options.prompt + options.generate);
    wait_for_device(model.device());
    Timing timing;
    const Stopwatch prefill;
    at::Tensor tokens = next_tokens(model, prompt, cache);
    timing.first_token_s = prefill.elapsed_s();
    const Stopwatch decode;
    for (std::int64_t i = 1; i < options.generate; ++i)
        tokens = next_tokens(model, tokens, cache);
    timing.other_tokens_s = decode.elapsed_s();
    return timing;
}

void add_series(Report& report, const std::string& key, const Series& series) {
    report[key] = series.mean();
    report[key + "_std"] = series.std_dev();
    report[key + "_samples"] = series.values;
}

void add_timings(Report& report, const std::vector<Timing>& timings, const BenchmarkOptions& options) {
    constexpr double ms_per_s = 1000.0;
    const auto decoded = static_cast<double>(options.generate - 1);
    const auto batch = static_cast<double>(options.batch);
    Series prefill;
    Series decode;
    Series first;
    Series other;
    for (const Timing& timing : timings) {
        prefill.values.push_back(batch * static_cast<double>(options.prompt) / timing.first_token_s);
        decode.values.push_back(batch * decoded / timing.other_tokens_s);
        first.values.push_back(timing.first_token_s * ms_per_s);
        other.values.push_back(timing.other_tokens_s / decoded * ms_per_s);
    }
    add_series(report, "prefill_tokens_per_s", prefill);
    add_series(report, "decode_tokens_per_s", decode);
    add_series(report, "ttft_ms", first);
    add_series(report, "tpot_ms", other);
}

std::vector<Metric> benchmark_metrics() {
    std::vector<Metric> metrics{
        {"prefill_tokens_per_s", "token/s", "higher"},
        {"prefill_tokens_per_s_std", "token/s", ""},
        {"decode_tokens_per_s", "token/s", "higher"},
        {"decode_tokens_per_s_std", "token/s", ""},
        {"ttft_ms", "ms", "lower"},
        {"ttft_ms_std", "ms", ""},
        {"tpot_ms", "ms", "lower"},
        {"tpot_ms_std", "ms", ""},
    };
    const auto more = model_metrics();
    metrics.insert(metrics.end(), more.begin(), more.end());
    return metrics;
}

} // namespace

Report benchmark(const BenchmarkOptions& options) {
    const c10::InferenceMode no_gradients;
    set_numeric_rules();
    set_operator_threads(options.common.threads);
    const Stopwatch loading;
    const Checkpoint checkpoint(options.common.model);
    const Llama model = load_model(checkpoint, options.common, options.prompt + options.generate);
    wait_for_device(model.device());
    const double load_s = loading.elapsed_s();

    const at::Tensor prompt = make_prompt(options, checkpoint, model);
    for (std::int64_t i = 0; i < options.warmup; ++i)
        run_once(model, prompt, options);
    std::vector<Timing> timings;
    for (std::int64_t i = 0; i < options.repetitions; ++i)
        timings.push_back(run_once(model, prompt, options));

    Report report;
    report["command"] = "benchmark";
    report["batch"] = options.batch;
    report["prompt"] = options.prompt;
    report["generate"] = options.generate;
    report["warmup"] = options.warmup;
    report["repetitions"] = options.repetitions;
    if (options.data.empty()) report["seed"] = options.seed;
    add_timings(report, timings, options);
    describe_model(report, checkpoint, options.common);
    report["load_s"] = load_s;
    report["peak_memory_bytes"] = peak_memory_bytes(model.device());
    append_metrics(report, benchmark_metrics());
    return report;
}

} // namespace tessera::llm
