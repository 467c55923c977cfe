#pragma once

#include <cstddef>
#include <vector>

#include "phy/core/export.hpp"

namespace phy::detail {

/// Discrete Fourier transforms of powers of two, in binary32 with a fixed order of operations. Plain code,
/// because a search runs once per recording; OFDM does not have these sizes.
class PHY_EXPORT FourierTransform {
public:
    /// points: a power of two, at least 4.
    explicit FourierTransform(std::size_t points);

    [[nodiscard]] std::size_t points() const { return points_; }

    /// In place, with the kernel exp(-j 2 pi k n / points) and no factor. With re and im swapped it is the
    /// inverse, times points.
    void operator()(float* re, float* im);

private:
    std::size_t points_;
    std::vector<float> factors_;  ///< (passes, groups, 3, 2)
    std::vector<float> scratch_;
};

}  // namespace phy::detail
