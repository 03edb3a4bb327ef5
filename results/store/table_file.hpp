#pragma once

#include <tessera/journal/file_layer.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/store/tables.hpp>

#include <string>

namespace tessera {

/// Version of the layout that docs/schema.md describes. A reader takes files of its own version only.
inline constexpr std::int64_t schema_version = 1;

enum class StepTexts {
    read,
    skip, ///< leaves StepTable::spec empty texts: they are most of a large file, and queries do not need them
};

/// Writes a new HDF5 file (with `results` as /cell_results if it is given) under a temporary name beside
/// `path`, closes and syncs it and renames it over `path`. Throws Hdf5Error or IoError; then `path` is as it
/// was.
void write_table_file(const std::string& path, const Tables& tables, FileLayer& files = system_files(),
                      const CellResultTable* results = nullptr);

/// Throws Hdf5Error for a damaged file and FormatError for one of another layout or whose parts do not fit
/// together.
Tables read_table_file(const std::string& path, StepTexts texts = StepTexts::read);

} // namespace tessera
