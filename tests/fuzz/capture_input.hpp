#pragma once

#include <filesystem>

#include "fuzz/target.hpp"
#include "phy/capture/capture.hpp"

/// Shared by targets that open a capture.
namespace phy_fuzz {

/// Options chosen by the first bytes of the input; make_seeds.py uses the same order.
phy::CaptureOptions choose_options(Input& input);

/// Reads a little at the beginning, the middle and the end of all data of the capture. Needs little memory
/// for any file. Throws as CaptureReader does.
void read_some(phy::CaptureReader& reader);

}  // namespace phy_fuzz
