#pragma once

#include "phy/files/measure.hpp"

namespace phy::detail {

/// measure_file() of a grid or samples.
Measured measure_slots(const CaptureDescription& capture, const MeasureOptions& options);

}  // namespace phy::detail
