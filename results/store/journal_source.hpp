#pragma once

#include <tessera/store/table_builder.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// The number in the name of a journal file or a segment: 4 for ".../journal-0004" and ".../segment-0004.h5".
std::uint32_t file_number(const std::string& path);

/// How far a journal file has been read.
struct JournalMark {
    std::uint64_t last_sequence = 0; ///< 0: nothing yet
    std::uint64_t read_bytes = 0;
};

/// Adds the frames of a journal file that come after `mark` to `builder`, with their coverage. Damage and
/// records that cannot be decoded are passed over and described in `warnings`, except for a torn tail, which
/// every killed or living writer leaves. True if there was any frame. Throws IoError.
bool add_journal(TableBuilder& builder, const std::string& path, const std::string& part, JournalMark mark,
                 std::vector<std::string>& warnings);

} // namespace tessera
