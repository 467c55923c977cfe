#pragma once

#include <filesystem>
#include <memory>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

namespace phy::hdf5 {

/// True if the bytes have HDF5's signature.
bool is_hdf5(const detail::PosixFile& bytes);

/// Opens the HDF5 file with these bytes; external_files as in CaptureOptions. The FileError distinguishes
/// other formats from damaged files.
std::unique_ptr<detail::InputFile> open_input(const std::filesystem::path& path, detail::PosixFile bytes,
                                              bool external_files);

}  // namespace phy::hdf5
