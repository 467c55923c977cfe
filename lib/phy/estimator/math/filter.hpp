#pragma once

#include <array>
#include <vector>

#include "phy/estimator/math/layout.hpp"
#include "phy/estimator/math/profile.hpp"

/// The Wiener filter for a range of resource blocks, in the coordinates of the modes of a flat profile.
///
/// A window of pilots estimates a tile of subcarriers in its middle. In coordinates in which correlations are
/// real, sums and differences of pilots that mirror each other (fold), each mode U is even or odd: it has
/// sums alone, or differences alone. The estimate is V M U^T: a projection on modes, a small real matrix, and
/// a synthesis from the modes V of the tile. Only M depends on the slot.
namespace phy::detail {

/// The lengths of rows of a filter's matrices are multiples of these, in floats and in doubles.
inline constexpr int estimator_row_multiple = 16;
inline constexpr int estimator_column_multiple = 8;

/// Limits of the matrices M of all allocations: modes and rows, columns of one parity, delays.
inline constexpr int estimator_max_rows = 104;
inline constexpr int estimator_max_part = 24;
inline constexpr int estimator_max_delays = 48;

/// Modes in memory: even ones, then odd ones, each part rounded up.
struct EstimatorModes {
    std::array<int, 2> counts{};  ///< even, odd

    [[nodiscard]] constexpr int modes() const { return counts[0] + counts[1]; }
    /// Floats.
    [[nodiscard]] constexpr int part(int parity) const {
        return round_up(counts[static_cast<std::size_t>(parity)], estimator_row_multiple);
    }
    [[nodiscard]] constexpr int width() const { return part(0) + part(1); }
    [[nodiscard]] constexpr int float_of(int mode) const {
        return mode < counts[0] ? mode : mode - counts[0] + part(0);
    }
    /// Doubles.
    [[nodiscard]] constexpr int column_part(int parity) const {
        return round_up(counts[static_cast<std::size_t>(parity)], estimator_column_multiple);
    }
    [[nodiscard]] constexpr int columns() const { return column_part(0) + column_part(1); }
    [[nodiscard]] constexpr int column_of(int mode) const {
        return mode < counts[0] ? mode : mode - counts[0] + column_part(0);
    }
};

/// Subcarriers around the middle of a window, and their modes.
struct EstimatorTileShape {
    int positions = 0;  ///< subcarriers, symmetric about the middle of the window's pilots
    int begin = 0;      ///< first of them, from the first subcarrier of a window whose comb begins there
    EstimatorModes modes;
    int first_row = 0;              ///< of M, among those of all shapes
    int half_width = 0;             ///< floats of a half of the positions, rounded up
    std::vector<float> synthesize;  ///< (modes, half_width): even modes on the first half, odd ones
    std::vector<double> power;      ///< (delays): of the modes, for a path of power 1, per position
};

/// The filter of one kind of stream.
struct EstimatorKind {
    int pilots = 0;  ///< in a window, of one comb (joint) or of both
    EstimatorModes modes;
    int noise_modes = 0;                     ///< that hold the channel; the others measure noise
    int rows = 0;                            ///< of M, of all shapes
    std::vector<float> project;              ///< (pilots, width): U
    std::vector<float> keep;                 ///< (width): 1 for noise_modes, else 0
    std::vector<int> pivot_columns;          ///< (modes): in M
    std::vector<double> columns;             ///< (delays, modes.columns()): U on paths
    std::vector<double> steering;            ///< (modes + rows, delays): U, then V, on paths
    std::vector<EstimatorTileShape> shapes;  ///< whole window, then its middle

    /// Of the matrix that is solved: modes of the window, then those of all shapes.
    [[nodiscard]] int all_rows() const { return modes.modes() + rows; }
    /// Floats per column of folded pilots, zero-padded.
    [[nodiscard]] int column_stride() const { return round_up(pilots, estimator_lanes); }
};

struct EstimatorTile {
    int window = 0;  ///< first resource block of its window, in its range
    int shape = 0;
    int first = 0;  ///< first resource block that it writes, in its range
    int blocks = 0;
};

/// Bins of the profile near a delay of the filter, and their weights.
struct EstimatorDeposit {
    int first = 0;
    int count = 0;
    int weights = 0;  ///< index of the first
};

struct EstimatorFilter {
    int window_blocks = 0;
    int tiles = 0;                           ///< of all ranges
    int delays = 0;                          ///< on either side of the middle of the extent
    double floor = 0.0;                      ///< of the power of two delays, over noise over power
    int likelihood_steps = 0;                ///< from the measured profile to powers of delays; 0: none
    std::vector<EstimatorDeposit> deposits;  ///< (2 delays), earliest first
    std::vector<double> deposit_weights;
    std::array<EstimatorKind, 2> kinds;  ///< single, joint

    [[nodiscard]] const EstimatorKind& of(bool joint) const { return kinds[joint ? 1 : 0]; }
};

/// For all ranges with windows of a length, the longest of which has `blocks`.
EstimatorFilter make_estimator_filter(const EstimatorLayout& layout, const EstimatorProfile& profile,
                                      int blocks, double extent);

/// Resource blocks of the window of a range.
int estimator_window_blocks(int blocks);

/// The tiles of a range.
std::vector<EstimatorTile> estimator_tiles(int blocks);

}  // namespace phy::detail
