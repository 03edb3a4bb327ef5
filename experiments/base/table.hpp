#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tessera {

/// One value of a table for people or scripts; std::monostate is null: no value. NaN and infinities are
/// values.
using TableCell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// Rows under named columns; every row has as many cells as there are headers.
struct TextTable {
    std::vector<std::string> headers;
    std::vector<std::vector<TableCell>> rows;

    bool operator==(const TextTable&) const = default;
};

} // namespace tessera
