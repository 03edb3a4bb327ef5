#pragma once

#include <tessera/journal/campaign_dir.hpp>
#include <tessera/store/table_file.hpp>
#include <tessera/store/tables.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// All results of a campaign at one moment: those in results.h5, and what segments and journals have beyond
/// it.
struct Store {
    Tables tables;
    std::vector<std::string> warnings; ///< what was damaged and what became of it, for people
    bool compacted = false;            ///< results.h5 holds everything that is in `tables`
};

/// Reads everything that the parts of a campaign have written, also while they write, after a kill, and with
/// damaged HDF5 files as long as their journals are there. Takes no lock and writes nothing. Throws IoError.
Store open_store(const CampaignDirectory& directory, StepTexts texts = StepTexts::skip);

enum class Compaction : std::uint8_t {
    written,
    current, ///< results.h5 held everything already
    busy,    ///< another process compacts; nothing was done
};

/// Puts everything into a new results.h5, by rename. The warnings of reading are added to `warnings`. Throws
/// Hdf5Error or IoError; results.h5 is then as it was.
Compaction compact(const CampaignDirectory& directory, std::vector<std::string>& warnings);

} // namespace tessera
