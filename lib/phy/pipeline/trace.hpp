#pragma once

#include <string>

#include "phy/core/export.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// The spans of a report (Config::trace) as JSON in the Trace Event format for Perfetto and chrome://tracing.
/// One row for the source, one per buffer set, one for the sink. Each span has the name of its step, and its
/// chunk's index, first item and number of items.
PHY_EXPORT std::string trace_events(const PipelineReport& report);

}  // namespace phy
