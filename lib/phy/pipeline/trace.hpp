#pragma once

#include <string>

#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// The spans of a report (Config::trace) in the Trace Event format, which Perfetto and chrome://tracing show:
/// a row for the source, one for each lane, one for the sink; a span is named after its step and has its
/// chunk's index, first item and items.
std::string trace_events(const PipelineReport& report);

}  // namespace phy
