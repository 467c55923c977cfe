#pragma once

#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/pipeline/place.hpp"

namespace phy::detail {

struct CaptureGain {
    float gain = 1.0F;
    std::string failure = {};  ///< why it could not be measured, in one line; empty if it was
};

/// The amplitude of the constellation, from symbols spread over the capture: by decisions, or if the points
/// are known, the root of the mean power, because known points need only a rough gain.
CaptureGain measure_gain(CaptureReader& capture, const SymbolMeterConfig& meter, SymbolReference reference,
                         const std::vector<Place>& places);

}  // namespace phy::detail
