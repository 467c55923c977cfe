#pragma once

#include <filesystem>

#include "phy/capture/flat/posix_file.hpp"

namespace phy::detail {

/// Opens for reading only what is a regular file: opening a pipe would wait for its writer. Throws FileError
/// that tells a missing file and a directory apart.
hdf5::PosixFile open_regular_file(const std::filesystem::path& path);

}  // namespace phy::detail
