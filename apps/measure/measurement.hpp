#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "measure/options.hpp"
#include "phy/files/measure_parts.hpp"

namespace phy::apps {

/// Measures the capture. Shows progress unless quiet.
Measured measure(const MeasureAppOptions& options, bool quiet);

/// The files that are read.
std::vector<std::filesystem::path> input_files(const MeasureAppOptions& options);

/// For parts of the capture; of slots by MeasureAppOptions::survey.
struct PlannedMeasurement {
    MeasurePlan plan;
    bool has_symbols = true;
};
PlannedMeasurement plan_measurement(const MeasureAppOptions& options, bool quiet);

/// Measures the range. each_chunk is called after each chunk.
MeasuredPart measure_part(const MeasureAppOptions& options, const MeasurePlan& plan, const ItemRange& range,
                          const std::function<void()>& each_chunk);

Measured join_measured(const MeasureAppOptions& options, const MeasurePlan& plan,
                       std::vector<MeasuredPart> parts);

}  // namespace phy::apps
