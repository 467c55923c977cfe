#pragma once

#include <optional>
#include <string>
#include <vector>

#include "phy/pipeline/place.hpp"

namespace phy::apps {

/// Such as "cuda[0], cuda[1]".
std::string names_of(const std::vector<Place>& places);

/// The names of their devices, such as "NVIDIA H200, NVIDIA H200"; none on a CPU.
std::optional<std::string> devices_of(const std::vector<Place>& places);

}  // namespace phy::apps
