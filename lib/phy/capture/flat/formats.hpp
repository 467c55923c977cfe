#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

/// Formats whose files store plain samples.
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
