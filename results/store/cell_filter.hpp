#pragma once

#include <tessera/store/cell_column.hpp>

#include <string>

namespace tessera {

/// Those of `cells` that satisfy the expression `where`, in their order. An id of a cell may be cut to its
/// first six digits or more. Throws UserError for bad grammar and unknown names.
Column<std::uint32_t> filter_cells(const CellColumns& columns, const Column<std::uint32_t>& cells,
                                   const std::string& where);

} // namespace tessera
