#pragma once

#include <boost/program_options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// The arguments DIR CELL, which several commands share.
struct CellArgument {
    std::string dir;
    std::string cell; ///< the first digits of an id
};

/// Parses `args` with these options beside DIR CELL; empty if help was shown. Throws UserError.
std::optional<CellArgument> parse_cell_argument(const std::string& usage,
                                                const std::vector<std::string>& args,
                                                const boost::program_options::options_description& options);

} // namespace tessera
