#pragma once

namespace phy::detail {

inline constexpr int most_layers = 4;
inline constexpr int most_antennas = 16;

/// A pivot smaller than this, relative to the diagonal that it comes from, is one of its rounding errors.
inline constexpr float smallest_pivot = 0x1p-18F;

/// The same of mu, which comes from 1.
inline constexpr float smallest_mu = 0x1p-20F;

}  // namespace phy::detail
