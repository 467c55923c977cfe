#pragma once

#include "common/json.hpp"

namespace phy::apps {

/// The CUDA architectures in this build, the usable devices, and why others are unusable. Only in builds with
/// CUDA.
Json cuda_info();

}  // namespace phy::apps
