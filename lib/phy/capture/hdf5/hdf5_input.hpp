#pragma once

#include <filesystem>
#include <memory>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

namespace phy::hdf5 {

/// True if there is HDF5's signature.
bool is_hdf5(const detail::PosixFile& bytes);

/// An HDF5 file, of which `bytes` are those; external_files as in CaptureOptions. Throws FileError that tells
/// a file that is not HDF5 and a damaged one apart.
std::unique_ptr<detail::InputFile> open_input(const std::filesystem::path& path, detail::PosixFile bytes,
                                              bool external_files);

}  // namespace phy::hdf5
