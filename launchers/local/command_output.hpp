#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Runs a command and returns what it wrote to stdout (at most 64 KiB); empty if it cannot be run or fails.
std::optional<std::string> command_output(const std::vector<std::string>& argv);

} // namespace tessera
