#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/llama/device.hpp>
#include <tessera/program/options.hpp>

#include <boost/program_options.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

#include <sched.h>

namespace tessera::llm {
namespace {

namespace po = boost::program_options;

const char* const usage_text =
    "usage: tessera-llm COMMAND [OPTION...]\n"
    "\n"
    "  evaluate   perplexity of a Llama checkpoint on a text\n"
    "  benchmark  prefill and decode speed, latency and peak memory\n"
    "\n"
    "`tessera-llm COMMAND --help` lists the options; --version prints the versions.\n"
    "Where TESSERA_METRICS names a file, the main figures are appended to it as JSON lines.\n";

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

int allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
    return CPU_COUNT(&set);
}

/// A launcher that hands out cores says so in OMP_NUM_THREADS (perhaps a list, of which the first counts);
/// else every CPU that this process may use.
std::int64_t default_threads() {
    const char* const value = std::getenv("OMP_NUM_THREADS");
    const auto first = split(value == nullptr ? "" : value, ',').front();
    const auto number = parse_number<std::int64_t>(first);
    return number && *number > 0 ? *number : allowed_cpus();
}

/// The options of one command with their values.
class Arguments {
public:
    Arguments(const po::options_description& known, std::vector<std::string> words)
        : known_(known) {
        try {
            const auto parsed =
                po::command_line_parser(words)
                    .options(known)
                    .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                    .run();
            for (const auto& option : parsed.options) {
                if (option.string_key.empty()) {
                    throw UserError(
                        fmt::format("'{}' is no option; options start with --", option.value.front()));
                }
            }
            po::store(parsed, values_);
        } catch (const po::unknown_option& error) {
            refuse_unknown(error.get_option_name());
        } catch (const po::error& error) {
            throw UserError(fmt::format("{}; --help lists the options", error.what()));
        }
    }

    bool has(const char* name) const { return values_.count(name) != 0; }

    std::string text(const char* name) const {
        if (!has(name)) throw UserError(fmt::format("--{} is required; --help lists the options", name));
        return values_[name].as<std::string>();
    }

    std::int64_t number(const char* name, std::int64_t lowest) const {
        constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
        const std::string word = text(name);
        const auto value = parse_number<std::int64_t>(word);
        if (!value || *value < lowest || *value > highest) {
            throw UserError(
                fmt::format("--{} {}: give a whole number from {} to {}", name, word, lowest, highest));
        }
        return *value;
    }

private:
    [[noreturn]] void refuse_unknown(const std::string& name) const {
        std::vector<std::string> names;
        for (const auto& option : known_.options())
            names.push_back("--" + option->long_name());
        throw UserError(
            fmt::format("unknown option {}{}; --help lists the options", name, did_you_mean(name, names)));
    }

    const po::options_description& known_;
    po::variables_map values_;
};

template <typename Value>
auto with_default(const Value& value) {
    return po::value<std::string>()->default_value(fmt::format("{}", value));
}

po::options_description common_description(const std::string& caption) {
    po::options_description known(caption);
    auto add = known.add_options();
    add("help,h", "print this");
    add("model", po::value<std::string>(), "checkpoint folder: config.json, safetensors, tokenizer.model");
    const std::string names = fmt::format("{}", fmt::join(precision_names(), ", "));
    add("precision", with_default("fp32"), names.c_str());
    add("group-size", with_default(128), "weights that share a scale, for intN");
    add("device", with_default("cpu"), "cpu, cuda or cuda:N");
    add("threads", po::value<std::string>(), "CPU threads (default: OMP_NUM_THREADS, else all allowed CPUs)");
    add("format", with_default("text"), "json or text");
    return known;
}

CommonOptions read_common(const Arguments& arguments) {
    CommonOptions common;
    common.model = arguments.text("model");
    common.precision = parse_precision(arguments.text("precision"));
    common.group_size = arguments.number("group-size", 1);
    common.device = arguments.text("device");
    common.threads =
        static_cast<int>(arguments.has("threads") ? arguments.number("threads", 1) : default_threads());
    const std::string format = arguments.text("format");
    if (format != "json" && format != "text") {
        throw UserError(fmt::format("--format {}: unknown; choose json or text", format));
    }
    common.format = format == "json" ? OutputFormat::json : OutputFormat::text;
    return common;
}

Command parse_evaluate(const std::vector<std::string>& words) {
    const EvaluateOptions defaults;
    po::options_description known = common_description("tessera-llm evaluate");
    auto add = known.add_options();
    add("task", with_default("wikitext2"), "wikitext2");
    add("data", po::value<std::string>(), "the task's text, such as wiki.test.raw");
    add("definition", with_default("study"), "of perplexity: study or gptq");
    add("context", with_default(defaults.context), "tokens in a window");
    add("limit", with_default(defaults.limit), "only so many windows from the start; 0 for all");
    add("batch", with_default(defaults.batch), "windows in one pass; 0 for 1 on the CPU, 16 on a GPU");
    const Arguments arguments(known, words);
    if (arguments.has("help")) return Notice{(std::ostringstream() << known).str()};

    EvaluateOptions options;
    options.common = read_common(arguments);
    options.task = arguments.text("task");
    if (options.task != "wikitext2")
        throw UserError(fmt::format("--task {}: unknown; choose wikitext2", options.task));
    options.data = arguments.text("data");
    options.definition = parse_definition(arguments.text("definition"));
    options.context = arguments.number("context", 2);
    options.limit = arguments.number("limit", 0);
    options.batch = arguments.number("batch", 0);
    return options;
}

Command parse_benchmark(const std::vector<std::string>& words) {
    const BenchmarkOptions defaults;
    po::options_description known = common_description("tessera-llm benchmark");
    auto add = known.add_options();
    add("data", po::value<std::string>(), "a text to take the prompts from (default: random tokens)");
    add("batch", with_default(defaults.batch), "sequences at once");
    add("prompt", with_default(defaults.prompt), "tokens in each prompt");
    add("generate", with_default(defaults.generate), "tokens generated after it, the first by the prefill");
    add("warmup", with_default(defaults.warmup), "runs before the measured ones");
    add("repetitions", with_default(defaults.repetitions), "measured runs");
    add("seed", with_default(defaults.seed), "of the prompt's random tokens");
    const Arguments arguments(known, words);
    if (arguments.has("help")) return Notice{(std::ostringstream() << known).str()};

    BenchmarkOptions options;
    options.common = read_common(arguments);
    if (arguments.has("data")) options.data = arguments.text("data");
    options.batch = arguments.number("batch", 1);
    options.prompt = arguments.number("prompt", 1);
    options.generate = arguments.number("generate", 2);
    options.warmup = arguments.number("warmup", 0);
    options.repetitions = arguments.number("repetitions", 1);
    options.seed = static_cast<std::uint64_t>(arguments.number("seed", 0));
    return options;
}

} // namespace

Command parse_command_line(int argc, const char* const* argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) throw UserError(fmt::format("no command was given\n{}", usage_text));
    const std::string& command = words.front();
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (command == "evaluate") return parse_evaluate(rest);
    if (command == "benchmark") return parse_benchmark(rest);
    if (command == "--help" || command == "-h" || command == "help") return Notice{usage_text};
    if (command == "--version") {
        return Notice{fmt::format("tessera-llm {}, LibTorch {}, BLAS {}\n", TESSERA_LLM_VERSION,
                                  libtorch_version(), blas_name())};
    }
    const std::vector<std::string> commands{"evaluate", "benchmark"};
    throw UserError(fmt::format("unknown command '{}'{}; choose evaluate or benchmark", command,
                                did_you_mean(command, commands)));
}

} // namespace tessera::llm
