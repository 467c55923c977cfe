#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

/// The formats of captures. Those in phy::detail store plain samples.
namespace phy::detail {

/// Opens a file of nothing but samples, with the type and shape of the options.
std::unique_ptr<InputFile> open_raw(const std::filesystem::path& path, PosixFile bytes,
                                    const CaptureOptions& options);

/// True if `head` begins a NumPy .npy file.
bool is_npy(std::span<const char> head);

/// Opens an array that numpy.save() wrote, in C order.
std::unique_ptr<InputFile> open_npy(const std::filesystem::path& path, PosixFile bytes,
                                    const CaptureOptions& options);

/// True for the name of a SigMF recording's metadata or samples.
bool is_sigmf(const std::filesystem::path& path);

/// Opens a SigMF recording, named by either of its files. All its samples are one array if its segments are
/// contiguous and have one frequency. Each of several segments is also an array.
std::unique_ptr<InputFile> open_sigmf(const std::filesystem::path& path, const CaptureOptions& options);

}  // namespace phy::detail

namespace phy::hdf5 {

/// True if the bytes have HDF5's signature.
bool is_hdf5(const detail::PosixFile& bytes);

/// Opens the HDF5 file with these bytes; external_files as in CaptureOptions. The FileError distinguishes
/// other formats from damaged files.
std::unique_ptr<detail::InputFile> open_input(const std::filesystem::path& path, detail::PosixFile bytes,
                                              bool external_files);

}  // namespace phy::hdf5
