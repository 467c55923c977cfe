#pragma once

#include <string>

#include "common/json.hpp"
#include "phy/core/backend.hpp"

namespace phy::apps {

/// What CUDA architectures phy has code for, the devices that it can run on, and why it cannot run on others;
/// only where phy was built with CUDA.
Json cuda_info();

/// Such as "NVIDIA H200"; only where phy was built with CUDA.
std::string cuda_device_name(const Backend& backend);

}  // namespace phy::apps
