#pragma once

#include <tessera/store/tables.hpp>

#include <string>

namespace tessera {

/// Throws FormatError naming `source` unless the columns of each table are equally long and every reference
/// and enumeration is within its range, so that no reader of the tables needs to check.
void check_tables(const Tables& tables, const std::string& source);

} // namespace tessera
