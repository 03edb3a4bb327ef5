#include <tessera/base/error.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/llama/device.hpp>
#include <tessera/program/evaluate.hpp>
#include <tessera/program/setup.hpp>
#include <tessera/program/stopwatch.hpp>
#include <tessera/program/text_file.hpp>
#include <tessera/text/wikitext.hpp>
#include <tessera/tokenizer/tokenizer.hpp>

#include <fmt/core.h>

#include <ATen/ops/empty.h>
#include <algorithm>
#include <atomic>
#include <c10/core/InferenceMode.h>
#include <cmath>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

namespace tessera::llm {
namespace {

constexpr std::int64_t gpu_batch = 16;

TokenWindows read_windows(const EvaluateOptions& options, const Tokenizer& tokenizer) {
    WindowOptions cut{options.definition, options.context, options.limit, tokenizer.bos_id()};
    const auto encode = [&](std::string_view text) { return tokenizer.encode(text); };
    TokenWindows windows = cut_windows(wikitext_rows(read_text(options.data)), encode, cut);
    if (windows.windows.empty()) {
        throw CheckpointError(options.data,
                              fmt::format("too short for one window of {} tokens", options.context),
                              "give a longer text or a smaller --context");
    }
    return windows;
}

/// Scores windows batch by batch. On the CPU each of `threads` threads takes whole batches, which scales
/// better than splitting single operators and gives the same figures for any number of threads.
class Scorer {
public:
    Scorer(const Llama& model, const std::vector<std::vector<std::int32_t>>& windows, std::int64_t batch)
        : model_(model)
        , windows_(windows)
        , batch_(static_cast<std::size_t>(batch))
        , nll_(windows.size()) {}

    std::vector<double> run(int threads) {
        const std::size_t batches = (windows_.size() + batch_ - 1) / batch_;
        const std::size_t helpers = std::min(static_cast<std::size_t>(threads), batches) - 1;
        {
            std::vector<std::jthread> pool;
            for (std::size_t i = 0; i < helpers; ++i)
                pool.emplace_back([this] { work(); });
            work();
        }
        if (failure_) std::rethrow_exception(failure_);
        return std::move(nll_);
    }

private:
    void work() {
        try {
            const c10::InferenceMode no_gradients;
            set_operator_threads(1);
            for (std::size_t first = take(); first < windows_.size(); first = take())
                score_batch(first);
        } catch (...) {
            const std::lock_guard lock(failure_mutex_);
            failure_ = std::current_exception();
            next_ = windows_.size();
        }
    }

    std::size_t take() { return next_.fetch_add(batch_); }

    void score_batch(std::size_t first) {
        const std::size_t count = std::min(batch_, windows_.size() - first);
        const std::size_t context = windows_[first].size();
        const at::Tensor tokens =
            at::empty({static_cast<std::int64_t>(count), static_cast<std::int64_t>(context)},
                      at::TensorOptions(at::kLong));
        auto* place = tokens.data_ptr<std::int64_t>();
        for (std::size_t i = first; i < first + count; ++i) {
            place = std::copy(windows_[i].begin(), windows_[i].end(), place);
        }
        const auto sums = window_nll(model_, tokens.to(model_.device()));
        std::copy(sums.begin(), sums.end(), nll_.begin() + static_cast<std::ptrdiff_t>(first));
    }

    const Llama& model_;
    const std::vector<std::vector<std::int32_t>>& windows_;
    std::size_t batch_;
    std::vector<double> nll_;
    std::atomic<std::size_t> next_ = 0;
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
};

std::vector<Metric> evaluate_metrics() {
    std::vector<Metric> metrics{
        {"perplexity", "", "lower"}, {"nll_sum", "nat", "lower"}, {"tokens_per_s", "token/s", "higher"},
        {"eval_s", "s", "lower"},    {"windows", "", ""},         {"predicted", "", ""},
        {"definition", "", ""},      {"bos_rule", "", ""},        {"tokenizer_sha256", "", ""},
    };
    const auto more = model_metrics();
    metrics.insert(metrics.end(), more.begin(), more.end());
    return metrics;
}

} // namespace

Report evaluate(const EvaluateOptions& options) {
    const c10::InferenceMode no_gradients;
    set_numeric_rules();
    set_operator_threads(options.common.threads);
    const Stopwatch loading;
    const Checkpoint checkpoint(options.common.model);
    const auto tokenizer = load_tokenizer(checkpoint);
    const Llama model = load_model(checkpoint, options.common, options.context);
    wait_for_device(model.device());
    const double load_s = loading.elapsed_s();

    const Stopwatch tokenizing;
    const TokenWindows windows = read_windows(options, *tokenizer);
    const double tokenize_s = tokenizing.elapsed_s();

    const bool on_cpu = model.device().is_cpu();
    const std::int64_t batch = options.batch != 0 ? options.batch : (on_cpu ? 1 : gpu_batch);
    const Stopwatch scoring;
    const std::vector<double> nll =
        Scorer(model, windows.windows, batch).run(on_cpu ? options.common.threads : 1);
    const double eval_s = scoring.elapsed_s();

    const double nll_sum = std::accumulate(nll.begin(), nll.end(), 0.0);
    const auto count = static_cast<std::int64_t>(windows.windows.size());
    const std::int64_t predicted = count * (options.context - 1);
    Report report;
    report["command"] = "evaluate";
    report["task"] = options.task;
    report["perplexity"] = json_number(std::exp(nll_sum / static_cast<double>(predicted)));
    report["nll_sum"] = json_number(nll_sum);
    report["tokens"] = windows.tokens;
    report["windows"] = count;
    report["predicted"] = predicted;
    report["definition"] = definition_name(options.definition);
    report["bos_rule"] = windows.bos_rule;
    report["context"] = options.context;
    report["limit"] = options.limit == 0 ? Report(nullptr) : Report(options.limit);
    report["batch"] = batch;
    describe_model(report, checkpoint, options.common);
    report["tokenizer_sha256"] = tokenizer->sha256();
    report["tokens_per_s"] = static_cast<double>(count * options.context) / eval_s;
    report["eval_s"] = eval_s;
    report["tokenize_s"] = tokenize_s;
    report["load_s"] = load_s;
    report["peak_memory_bytes"] = peak_memory_bytes(model.device());
    append_metrics(report, evaluate_metrics());
    return report;
}

} // namespace tessera::llm
