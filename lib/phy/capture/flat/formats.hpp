#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

/// The formats whose samples lie in a file as they are.
namespace phy::detail {

/// A file of samples alone, of the type and shape that the options say.
std::unique_ptr<InputFile> open_raw(const std::filesystem::path& path, PosixFile bytes,
                                    const CaptureOptions& options);

/// True if a file that begins so is one of NumPy's .npy.
bool is_npy(std::span<const char> head);

/// An array that numpy.save() wrote, in C order.
std::unique_ptr<InputFile> open_npy(const std::filesystem::path& path, PosixFile bytes,
                                    const CaptureOptions& options);

/// True for the name of a SigMF recording's metadata or samples.
bool is_sigmf(const std::filesystem::path& path);

/// A SigMF recording, named by either of its files. Samples of all its segments are one array, as long as
/// they go on where others end and at one frequency; each of several segments is an array too.
std::unique_ptr<InputFile> open_sigmf(const std::filesystem::path& path, const CaptureOptions& options);

}  // namespace phy::detail
