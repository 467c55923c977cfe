#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/core/integers.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/estimator/math/slot_state.hpp"

/// The quantities of the estimator, their order and their layout in memory.
///
/// The pilots of a CDM group in one symbol are two combs: pilots 0, 2, 4 ... and 1, 3, 5 ... The ports of a
/// group differ by the sign of comb 1. So all pilots of one comb, which are equally spaced, see the sum or
/// the difference of two channels, and the processing of a comb needs no code.
namespace phy::detail {

/// Lanes of sums: virtual lanes by index, then a tree (reduce/tree.hpp).
inline constexpr int estimator_lanes = 32;

/// Sums over the pilots of a symbol: energy, then the correlation of neighbours, real and imaginary.
inline constexpr int estimator_row_sums = 3;

/// The ports of one CDM group with one code in time: one, or two that differ by the sign of comb 1.
struct EstimatorStream {
    int group = 0;                        ///< index into EstimatorLayout::groups
    std::array<int, 2> layer = {-1, -1};  ///< with the sign + and - on comb 1; -1: none
    std::array<float, 2> in_time = {1.0F, 1.0F};

    [[nodiscard]] bool joint() const { return layer[0] >= 0 && layer[1] >= 0; }
    [[nodiscard]] int ports() const { return joint() ? 2 : 1; }
};

/// A range of neighbouring resource blocks, filtered by itself.
struct EstimatorRange {
    int first = 0;  ///< resource block in the carrier
    int blocks = 0;
    int offset = 0;  ///< of its pilots in a comb's row
};

/// Pilots of a comb that an erased one is interpolated from, at most, and itself.
inline constexpr int estimator_fill_pilots = 17;

/// (real and imaginary parts, pilots); 0: erased.
using EstimatorFillWeights = std::array<std::array<float, estimator_fill_pilots>, 2>;

/// An erased pilot: the weighted sum of others of its comb.
struct EstimatorFill {
    int group = 0;  ///< index into EstimatorLayout::groups
    int comb = 0;
    int at = 0;     ///< in a comb's row
    int first = 0;  ///< of the weighted pilots, in a comb's row
    int count = 0;
    EstimatorFillWeights of_rows = {};     ///< around a delay within a prefix
    EstimatorFillWeights of_streams = {};  ///< around delay 0, which is the middle there
};

/// The numbers of a layout, on the host and in device memory.
struct EstimatorShape {
    int antennas;
    int layers;
    int subcarriers;
    int symbols;  ///< with DM-RS
    int length;   ///< symbols per DM-RS
    int estimates;
    int symbols_averaged;  ///< per estimate
    int comb_pilots;       ///< per comb and resource block
    int pilots;            ///< per symbol
    int comb_size;         ///< floats of a comb's row: a multiple of estimator_lanes, zeros after each range
    int comb_stride;       ///< including zeros for the neighbour of the last pilot
    int comb_shift;        ///< subcarriers from comb 0 to comb 1
    int rows;              ///< of pilots: (antennas, groups, symbols)
    int stream_rows;       ///< (antennas, streams, estimates)
    int groups_count;
    int streams_count;
    int columns[2];                   ///< per tile, by kind: (streams, combs, parts, antennas, estimates)
    std::array<int, 2> kind_streams;  ///< single, joint
    std::array<int, max_streams> index_in_kind;  ///< of a stream, among those of its kind
    int spacing;                                 ///< subcarriers between pilots of a comb
    float amplitude;                             ///< of pilots
    float scale;                                 ///< 1 / amplitude
};

struct EstimatorLayout : EstimatorShape {
    explicit EstimatorLayout(const ChannelEstimatorConfig& config);

    std::vector<int> groups;  ///< first subcarrier in a resource block of each CDM group in use
    std::vector<int> dmrs_symbols;
    std::vector<EstimatorStream> streams;
    std::vector<EstimatorRange> ranges;
    std::vector<std::int32_t> subcarrier_of;  ///< (2, comb_stride), for a group that begins at 0; -1: none
    std::vector<std::int32_t> pilot_of;       ///< (2, comb_stride); -1: none
    std::vector<int> erased;                  ///< subcarriers of the allocation, in order
    std::vector<EstimatorFill> fills;

    /// Floats of a row: (combs, real and imaginary, comb_stride).
    [[nodiscard]] std::size_t row_floats() const { return 4 * static_cast<std::size_t>(comb_stride); }
    [[nodiscard]] int longest_range() const;  ///< resource blocks
    /// Whether pilots tell delays from noise. Two pilots per comb in one DM-RS differ by both alike.
    [[nodiscard]] bool shows_delays() const;
};

/// Throws ArgumentError if a value is out of its range.
void check_config(const ChannelEstimatorConfig& config);

/// The time from the beginning of symbol 0 to that of symbol l, times the subcarrier spacing.
inline double symbol_time(int l) {
    return l * (1.0 + 144.0 / 2048.0);
}

}  // namespace phy::detail
