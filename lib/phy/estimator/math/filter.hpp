#pragma once

#include <array>
#include <vector>

#include "phy/estimator/math/layout.hpp"

/// The Wiener filter of one delay spread for a range of resource blocks, in the coordinates of the channel's
/// modes, where noise is a diagonal matrix.
///
/// A window of pilots estimates a tile of subcarriers. R is the correlation of the exponential profile at the
/// window's pilots. In coordinates in which R is real, sums and differences of pilots that mirror each other
/// (fold), R is U diag(lambda) U^T. With nu, noise over power, the estimate is V M diag(1 / (lambda + nu))
/// U^T: a projection on modes, a scaling, a small matrix M, and a synthesis from the modes V of the tile. U,
/// V and M do not depend on noise.
namespace phy::detail {

/// The lengths of rows of a filter's matrices are multiples of this, in floats.
inline constexpr int estimator_row_multiple = 16;

struct EstimatorTile {
    int start = 0;    ///< first resource block of the tile, in its range
    int window = 0;   ///< first resource block of its window, in its range
    int skipped = 0;  ///< first resource blocks of the tile, which another tile writes
    int variant = 0;  ///< index of its matrix M
};

/// The filter of one kind of stream in a range.
struct EstimatorModes {
    int pilots = 0;       ///< K: pilots in a window, of one comb (joint) or of both
    int modes = 0;        ///< r
    int width = 0;        ///< r rounded up
    int noise_modes = 0;  ///< number of first modes that hold the channel; the others measure noise
    float tail = 0.0F;    ///< likely power of the channel beyond those, per pilot, for one port of power 1
    float unresolved = 0.0F;     ///< error of the estimate without noise
    std::vector<float> project;  ///< (K, width): U
    std::vector<float> lambda;   ///< (width), padded with 1
    std::vector<float> keep;     ///< (width): 1 for the first noise_modes, else 0
    std::vector<float> error;    ///< (width): |M_i|^2 / lambda_i / subcarriers, a mean over tiles
    std::vector<float> mix;      ///< (variants, groups, combs, 2 modes, mix_width): M as a real matrix

    /// Floats per column of folded pilots, zero-padded.
    [[nodiscard]] int column_stride() const { return round_up(pilots, estimator_lanes); }
};

struct EstimatorFilter {
    int window_blocks = 0;
    int tile_blocks = 0;
    std::vector<EstimatorTile> tiles;
    int tile_modes = 0;
    int mix_width = 0;   ///< 2 tile_modes, rounded up: real parts, then imaginary parts
    int tile_width = 0;  ///< subcarriers of a tile, rounded up
    std::vector<float>
        synthesize;  ///< (tile_modes, tile_width): V, real parts of the first half, then imaginary
    std::array<EstimatorModes, 2> kinds;  ///< single, joint

    [[nodiscard]] const EstimatorModes& of(bool joint) const { return kinds[joint ? 1 : 0]; }
    [[nodiscard]] int tile_subcarriers() const { return tile_blocks * subcarriers_per_resource_block; }
};

/// delay_spread is in units of the reciprocal of the subcarrier spacing, and should be too long rather than
/// too short. likely_spread is what channels probably have when this filter is used; it gives the power
/// beyond noise_modes.
EstimatorFilter make_estimator_filter(const EstimatorLayout& layout, int blocks, double delay_spread,
                                      double likely_spread);

/// Delay spreads of the filters for measured spreads, in the same unit, a factor of sqrt(2) apart.
std::vector<double> estimator_delay_spreads();

}  // namespace phy::detail
