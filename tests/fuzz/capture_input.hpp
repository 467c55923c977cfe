#pragma once

#include <filesystem>

#include "fuzz/target.hpp"
#include "phy/capture/capture.hpp"

/// What the targets have in common that open a capture.
namespace phy_fuzz {

/// Options as the first bytes of the input choose them; make_seeds.py has the same order.
phy::CaptureOptions choose_options(Input& input);

/// Reads something at the beginning, in the middle and at the end of all that the capture has. Takes little
/// memory, whatever the file says. Throws as CaptureReader does.
void read_some(phy::CaptureReader& reader);

}  // namespace phy_fuzz
