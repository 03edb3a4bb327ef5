#pragma once

#include <tessera/journal/campaign_dir.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Makes parts/<part>/segment-<n>.h5 from each journal file n up to `last_sealed` that has none; files that
/// are still being written must not be among them. A segment that cannot be read is made again. Returns the
/// paths of those made. What was passed over in damaged journals is described in `warnings`. HDF5 is not
/// thread-safe: one thread at a time may use this, compaction and the store. Throws Hdf5Error or IoError; the
/// journals stay the truth.
std::vector<std::string> build_segments(const CampaignDirectory& directory, std::string_view part,
                                        std::uint32_t last_sealed, std::vector<std::string>& warnings);

/// The path of a segment: "segment-0004.h5" in the part's folder.
std::string segment_path(const CampaignDirectory& directory, std::string_view part, std::uint32_t number);

} // namespace tessera
