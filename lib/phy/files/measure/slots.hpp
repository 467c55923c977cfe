#pragma once

#include <span>
#include <string>

#include "phy/capture/capture.hpp"
#include "phy/files/measure.hpp"
#include "phy/files/measure_parts.hpp"

/// Measurements of a grid or samples: of the equalised symbols of receive_file(). All throw ArgumentError for
/// options that are of symbols alone.
namespace phy::detail {

/// Measures the range, or all.
Measured measure_slots(const CaptureDescription& capture, const MeasureOptions& options);

MeasurePlan plan_slots(const CaptureDescription& capture, const MeasureOptions& options);

/// MeasuredPart::settings.
std::string settings_of_slots(const MeasurePlan& plan);

MeasuredPart measure_part_of_slots(const CaptureDescription& capture, const MeasureOptions& options,
                                   const MeasurePlan& plan);

/// parts: of all slots, in order.
Measured join_slots(const CaptureDescription& capture, const MeasureOptions& options, const MeasurePlan& plan,
                    std::span<const MeasuredPart> parts);

}  // namespace phy::detail
