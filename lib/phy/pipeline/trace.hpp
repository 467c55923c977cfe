#pragma once

#include <string>

#include "phy/core/export.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// The spans of a report (Config::trace) in the Trace Event format, which Perfetto and chrome://tracing show:
/// a row for the source, one for each lane, one for the sink; a span is named after its step and has its
/// chunk's index, first item and items.
PHY_EXPORT std::string trace_events(const PipelineReport& report);

}  // namespace phy
