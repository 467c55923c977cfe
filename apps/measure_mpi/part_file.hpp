#pragma once

#include <string>

#include "phy/files/measure_parts.hpp"

namespace phy::apps {

/// The bytes of a part. Sums are those of memory, so that nothing is rounded.
std::string to_bytes(const MeasuredPart& part);

/// Throws FileError for other bytes.
MeasuredPart parse_part(const std::string& bytes);

}  // namespace phy::apps
