#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/cli/options.hpp>

#include <fmt/core.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <string_view>

#include <fcntl.h>

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace tessera {

namespace {

constexpr std::string_view example =
    R"toml(# An example campaign. Look at it with `tessera plan campaign.toml --cells --commands`,
# run it with `tessera run campaign.toml`, then `tessera query example --metric score`.
# docs/campaign.md explains every key.

[campaign]
name = "example"        # also the default directory of the results
description = "Writes a score for every pair of a model and a precision"
repeats = 2             # of every cell, numbered from 0
seed = 1                # each repeat gets a seed made from it, in ${seed} and TESSERA_SEED

[matrix]                # every combination of these values is a point; a point and a repeat are a cell
model     = ["small", "large"]
precision = ["fp32", "int8"]

# [[matrix.exclude]]    # leave combinations out: by value, list, glob, comparison or field
# model = "large"
# precision = "fp32"

[models]                # what the values of axis `model` stand for; every field is a column
small = { width = 64, revision = "v1" }     # `revision` says which model it is; without it, the content of `path`
large = { width = 512, revision = "v1" }

[precisions]
fp32 = { bits = 32 }
int8 = { bits = 8 }

[workload]              # how a cell becomes a process: an argument vector, no shell unless you name one
command = [
    "sh", "-c",
    # A result is one JSON line in the file that TESSERA_METRICS names.
    "echo \"{\\\"metric\\\": \\\"score\\\", \\\"value\\\": $(( ${model.width} * ${precision.bits} ))}\" >> \"$TESSERA_METRICS\"",
]
env = { MODEL = "${model}", PRECISION = "${precision}" }

[resources]             # of one step; none of this changes what a result means
cores = 1
timeout = "1m"

[retry]                 # how often to try again after a crash (a signal) or an exit code other than 0
crash = 1
exit = 0
)toml";

void create_file(const fs::path& path) {
    try {
        const UniqueFd fd = open_file(path.string(), O_WRONLY | O_CREAT | O_EXCL, 0666);
        write_all(fd.get(), example, path.string());
    } catch (const IoError& error) {
        if (error.code == EEXIST)
            throw UserError(
                fmt::format("{} exists already and is left as it is: name another folder", path.string()));
        throw UserError(error.what());
    }
}

} // namespace

int init_command(const std::vector<std::string>& args) {
    std::string folder;
    po::options_description hidden;
    hidden.add_options()("folder", po::value(&folder)->default_value("."));
    po::positional_options_description positional;
    positional.add("folder", 1);
    const ParsedOptions parsed = parse_options(
        "usage: tessera init [DIR]\n\nWrites a commented example campaign, campaign.toml, into DIR (default: "
        "this folder). Overwrites nothing.",
        args, po::options_description("Options"), hidden, positional);
    if (parsed.help_shown) return 0;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw UserError(fmt::format("cannot make the folder {}: {}", folder, error.message()));
    const fs::path path = (fs::path(folder) / "campaign.toml").lexically_normal();
    create_file(path);
    std::cout << fmt::format("wrote {}\nnext: tessera plan {}\n", path.string(), path.string());
    return 0;
}

} // namespace tessera
