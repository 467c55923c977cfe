#pragma once

#include <string>

#include "phy/core/backend.hpp"

namespace phy::apps {

/// The backend that --backend and --device ask for; device is a number or empty. For "auto" that is, in this
/// order, the one in PHY_BACKEND, a CUDA device, the fastest of the CPU: the last with a warning on the log
/// if this phy has CUDA. Throws BackendError if it does not run here, ArgumentError if the two do not go
/// together.
Backend choose_backend(const std::string& backend, const std::string& device);

}  // namespace phy::apps
