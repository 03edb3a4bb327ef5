#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/cli/options.hpp>
#include <tessera/cli/run_options.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace po = boost::program_options;

namespace tessera {

namespace {

/// Numbers are read as signed, since a negative one would wrap around silently.
std::uint64_t count(const po::variables_map& values, const char* name, std::int64_t lowest) {
    const auto value = values[name].as<std::int64_t>();
    if (value < lowest || value > 1'000'000'000)
        throw UserError(
            fmt::format("--{} must be a number from {} to 1000000000, not {}", name, lowest, value));
    return static_cast<std::uint64_t>(value);
}

void check_progress(const std::string& name) {
    const std::vector<std::string> names = {"auto", "repaint", "plain", "json"};
    if (std::find(names.begin(), names.end(), name) == names.end())
        throw UserError(fmt::format("--progress must be auto, repaint, plain or json, not '{}'{}", name,
                                    did_you_mean(name, names)));
}

} // namespace

RunOptions parse_run_options(const std::vector<std::string>& args) {
    RunOptions options;
    po::options_description visible("Options");
    auto add = visible.add_options();
    add("dir", po::value(&options.dir), "campaign directory (default: ./<campaign name>)");
    add("workers", po::value<std::int64_t>(),
        "ranks that run steps on this machine, beside the controller (default 1); "
        "0: one process does all");
    add("where", po::value(&options.where), "run only the cells that this expression matches");
    add("select", po::value<std::string>(), "the same as --where");
    add("limit", po::value<std::int64_t>(), "start at most this many cells");
    add("retry-failed", po::bool_switch(&options.retry_failed), "try again what has failed for good");
    add("rerun", po::value(&options.rerun),
        "run the matching cells again; their results are kept but not accepted");
    add("controller-only", po::bool_switch(&options.controller_only), "rank 0 never runs steps itself");
    add("mpi", po::value(&options.mpi), "openmpi or mpich (default: the first that is built and found)");
    add("progress", po::value(&options.progress)->default_value("auto"), "auto, repaint, plain or json");
    po::options_description hidden;
    hidden.add_options()("campaign", po::value(&options.campaign))("for-parent",
                                                                   po::value(&options.for_parent));
    po::positional_options_description positional;
    positional.add("campaign", 1);

    const ParsedOptions parsed = parse_options("usage: tessera run CAMPAIGN.toml [OPTIONS]\n\nRuns what the "
                                               "campaign has no result for; running it again resumes. "
                                               "Ctrl-C stops it in order,\na second Ctrl-C at once.",
                                               args, visible, hidden, positional);
    options.help_shown = parsed.help_shown;
    if (options.help_shown) return options;
    if (options.campaign.empty())
        throw UserError("which campaign? usage: tessera run CAMPAIGN.toml [OPTIONS]");
    if (parsed.values.count("workers") > 0)
        options.workers = static_cast<std::uint32_t>(count(parsed.values, "workers", 0));
    if (parsed.values.count("limit") > 0) options.limit = count(parsed.values, "limit", 1);
    if (parsed.values.count("select") > 0) {
        if (!options.where.empty()) throw UserError("give --where or --select, not both: they are the same");
        options.where = parsed.values["select"].as<std::string>();
    }
    check_progress(options.progress);
    return options;
}

std::vector<std::string> to_arguments(const RunOptions& options) {
    std::vector<std::string> args = {options.campaign};
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) args.push_back(fmt::format("--{}={}", name, value));
    };
    add("dir", options.dir);
    add("where", options.where);
    add("rerun", options.rerun);
    if (options.limit) add("limit", std::to_string(*options.limit));
    if (options.retry_failed) args.emplace_back("--retry-failed");
    if (options.controller_only) args.emplace_back("--controller-only");
    add("progress", options.progress);
    add("for-parent", options.for_parent);
    return args;
}

} // namespace tessera
