#pragma once

#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/pipeline/place.hpp"

namespace phy::detail {

/// The amplitude of the symbols cannot be measured.
class GainError : public FileError {
public:
    using FileError::FileError;
};

/// The amplitude of the constellation, from symbols spread over the capture: by decisions, or if the points
/// are known, the root of the mean power, because known points need only a rough gain. Throws GainError.
float estimate_capture_gain(CaptureReader& capture, const SymbolMeterConfig& meter, SymbolReference reference,
                            const std::vector<Place>& places);

}  // namespace phy::detail
