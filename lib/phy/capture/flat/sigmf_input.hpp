#pragma once

#include <filesystem>
#include <memory>

#include "phy/capture/input.hpp"

namespace phy::detail {

/// True for the name of a SigMF recording's metadata or samples.
bool is_sigmf(const std::filesystem::path& path);

/// A SigMF recording, named by either of its files. Samples of all its segments are one array, as long as
/// they go on where others end and at one frequency; each of several segments is an array too.
std::unique_ptr<InputFile> open_sigmf(const std::filesystem::path& path, const CaptureOptions& options);

}  // namespace phy::detail
