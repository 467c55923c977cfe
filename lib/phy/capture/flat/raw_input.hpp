#pragma once

#include <filesystem>
#include <memory>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

namespace phy::detail {

/// A file of samples alone, of the type and shape that the options say.
std::unique_ptr<InputFile> open_raw(const std::filesystem::path& path, hdf5::PosixFile bytes,
                                    const CaptureOptions& options);

}  // namespace phy::detail
