#pragma once

#include <span>

#include "phy/core/format.hpp"

namespace phy::detail {

/// The matrix that whitens noise of this covariance, (antennas, antennas), with `loading` on its diagonal.
void whiten(std::span<const cf32> covariance, float loading, std::span<cf32> whitening);

}  // namespace phy::detail
