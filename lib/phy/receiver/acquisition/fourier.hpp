#pragma once

#include <cstddef>
#include <vector>

namespace phy::detail {

/// Discrete Fourier transforms of a power of two of points, in binary32 with a fixed order of operations:
/// plain code, as a search runs once a recording, and of sizes that OFDM does not have.
class FourierTransform {
public:
    /// points: a power of two, at least 4.
    explicit FourierTransform(std::size_t points);

    [[nodiscard]] std::size_t points() const { return points_; }

    /// In place, with the kernel exp(-j 2 pi k n / points) and no factor. With re and im in each other's
    /// place it is the inverse, times points.
    void operator()(float* re, float* im);

private:
    std::size_t points_;
    std::vector<float> factors_;  ///< (passes, groups, 3, 2)
    std::vector<float> scratch_;
};

}  // namespace phy::detail
