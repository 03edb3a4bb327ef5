#pragma once

#include <string>

namespace tessera {

/// Tessera's version and those of the libraries it was built with and runs with, a line each.
std::string version_text();

} // namespace tessera
