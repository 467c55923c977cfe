#pragma once

#include <cstdint>

#include "phy/capture/capture.hpp"
#include "phy/capture/input.hpp"
#include "phy/capture/iq_layout.hpp"

namespace phy::detail {

/// The dimensions of the symbols of a dataset. Flat if the last one is odd while I and Q alternate.
Dimensions shape_of(const InputDataset& iq, const IqLayout& layout);

/// The first dimension of a grid or samples; 1 if it is left out. Throws FileError for other ranks.
std::uint64_t antennas_of(CaptureKind kind, const InputDataset& iq, const IqLayout& layout,
                          const Dimensions& shape);

}  // namespace phy::detail
