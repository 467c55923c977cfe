#pragma once

#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/pipeline/place.hpp"

namespace phy::detail {

/// The symbols have no amplitude that could be measured.
class GainError : public FileError {
public:
    using FileError::FileError;
};

/// The amplitude of the constellation, from symbols that are spread over the capture: by decisions, or where
/// the points are known, the root of the mean power, because those need a rough gain only. Throws GainError.
float estimate_capture_gain(CaptureReader& capture, const SymbolMeterConfig& meter, SymbolReference reference,
                            const std::vector<Place>& places);

}  // namespace phy::detail
