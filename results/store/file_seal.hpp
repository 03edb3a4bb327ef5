#pragma once

#include <string>

namespace tessera {

/// Writes the SHA-256 of an HDF5 file's content into the user block at its front. HDF5 1.10 has no checksum
/// over variable-length texts and can crash on damaged ones, so readers check the whole file before the
/// library sees it. Throws IoError.
void seal_file(const std::string& path);

/// Throws FormatError unless the file is as it was sealed, IoError.
void check_seal(const std::string& path);

} // namespace tessera
