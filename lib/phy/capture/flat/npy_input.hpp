#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

namespace phy::detail {

/// True if a file that begins so is one of NumPy's .npy.
bool is_npy(std::span<const char> head);

/// An array that numpy.save() wrote, in C order.
std::unique_ptr<InputFile> open_npy(const std::filesystem::path& path, hdf5::PosixFile bytes,
                                    const CaptureOptions& options);

}  // namespace phy::detail
