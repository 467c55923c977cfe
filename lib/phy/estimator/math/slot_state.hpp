#pragma once

#include <array>

#include "phy/dmrs/slot_allocation.hpp"

/// The constants of an estimator and the measured values of a slot, on every backend. Times are in units of
/// the reciprocal of the subcarrier spacing, frequencies in units of the spacing.
namespace phy::detail {

inline constexpr int max_streams = 4;
inline constexpr int max_pairs = symbols_per_slot - 1;

/// Sums over a slot's pilots: energy, correlation of neighbours, then between neighbouring DM-RS.
inline constexpr int estimator_slot_sums = 3 + 2 * max_pairs;

struct EstimatorConstants {
    float subcarrier_spacing;
    float energy_share;     ///< 1 / pilots
    float neighbour_share;  ///< 1 / pairs of neighbours; 0: none
    float noise_variance;   ///< 0: measured
    int corrects_timing;
    int pairs;                          ///< of neighbouring DM-RS, to measure the frequency; 0: not measured
    std::array<float, max_pairs> gaps;  ///< between the DM-RS of a pair
    std::array<float, symbols_per_slot> times;
    float noise_scale;  ///< N0 of a resource element over noise of a pilot of a stream
    int streams;
    std::array<int, max_streams> joint;
    std::array<float, max_streams> ports;
};

/// By kind of stream: single, joint.
struct EstimatorFacts {
    std::array<float, 2> pilots;   ///< in the sum of a stream's energy
    std::array<float, 2> freedom;  ///< of a stream's residual; complex numbers
    float overlap;                 ///< windows that a pilot is in, on average
};

struct SlotState {
    float step;  ///< turns per subcarrier that the timing correction rotates pilots back by
    float frequency_offset;
    float timing;
    float delay_spread;
    float coherence;
    int is_spoiled;  ///< a pilot has no room_of()
    float noise;     ///< of a pilot of a stream
    float noise_variance;
    std::array<float, max_streams> power;   ///< of a coefficient
    std::array<float, 2> noise_over_power;  ///< of a pilot, by kind
    std::array<float, symbols_per_slot> phase_re;
    std::array<float, symbols_per_slot> phase_im;
};

}  // namespace phy::detail
