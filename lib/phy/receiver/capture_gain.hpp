#pragma once

#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/pipeline/place.hpp"

namespace phy::detail {

/// The amplitude of the constellation, from symbols that are spread over the capture. Throws FileError where
/// they have none.
float estimate_capture_gain(CaptureReader& capture, const SymbolMeterConfig& meter,
                            const std::vector<Place>& places);

}  // namespace phy::detail
