#pragma once

#include "common/json.hpp"

namespace phy::apps {

/// What CUDA architectures phy has code for, the devices that it can run on, and why it cannot run on others;
/// only where phy was built with CUDA.
Json cuda_info();

}  // namespace phy::apps
