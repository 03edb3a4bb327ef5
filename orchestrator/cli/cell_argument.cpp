#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/cli/cell_argument.hpp>
#include <tessera/cli/options.hpp>

namespace po = boost::program_options;

namespace tessera {

std::optional<CellArgument> parse_cell_argument(const std::string& usage,
                                                const std::vector<std::string>& args,
                                                const po::options_description& options) {
    CellArgument argument;
    po::options_description hidden;
    hidden.add_options()("dir", po::value(&argument.dir))("cell", po::value(&argument.cell));
    po::positional_options_description positional;
    positional.add("dir", 1).add("cell", 1);
    if (parse_options(usage, args, options, hidden, positional).help_shown) return std::nullopt;
    if (argument.dir.empty() || argument.cell.empty())
        throw UserError("which cell? " + usage.substr(0, usage.find('\n')));
    argument.cell = to_lower(argument.cell);
    return argument;
}

} // namespace tessera
