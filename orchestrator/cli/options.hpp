#pragma once

#include <boost/program_options.hpp>

#include <string>
#include <vector>

namespace tessera {

/// Parses a subcommand's arguments. `usage` is the first line of its help. With --help prints the help and
/// returns empty. Unknown options and wrong values become a UserError with a suggestion.
struct ParsedOptions {
    boost::program_options::variables_map values;
    bool help_shown = false;
};

ParsedOptions parse_options(const std::string& usage, const std::vector<std::string>& args,
                            boost::program_options::options_description visible,
                            const boost::program_options::options_description& hidden,
                            const boost::program_options::positional_options_description& positional);

} // namespace tessera
