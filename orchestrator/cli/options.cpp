#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/cli/options.hpp>

#include <boost/program_options.hpp>
#include <fmt/core.h>

#include <iostream>

namespace po = boost::program_options;

namespace tessera {

namespace {

std::vector<std::string> long_names(const po::options_description& options) {
    std::vector<std::string> names;
    for (const auto& option : options.options())
        if (!option->long_name().empty()) names.push_back("--" + option->long_name());
    return names;
}

} // namespace

ParsedOptions parse_options(const std::string& usage, const std::vector<std::string>& args,
                            po::options_description visible, const po::options_description& hidden,
                            const po::positional_options_description& positional) {
    visible.add_options()("help,h", "show this help");
    po::options_description all;
    all.add(visible).add(hidden);
    // Guessing would let a typing error of one option pass for another.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    ParsedOptions parsed;
    try {
        po::store(po::command_line_parser(args).options(all).positional(positional).style(style).run(),
                  parsed.values);
        if (parsed.values.count("help") > 0) {
            std::cout << usage << "\n\n" << visible << '\n';
            parsed.help_shown = true;
            return parsed;
        }
        po::notify(parsed.values);
    } catch (const po::unknown_option& error) {
        const std::string& name = error.get_option_name();
        throw UserError(
            fmt::format("unknown option '{}'{}; see --help", name, did_you_mean(name, long_names(visible))));
    } catch (const po::error& error) {
        throw UserError(fmt::format("{}; see --help", error.what()));
    }
    return parsed;
}

} // namespace tessera
