#pragma once

#include <array>

#include "phy/dmrs/slot_allocation.hpp"

/// The constants of an estimator and the measured values of a slot, on every backend. Times are in units of
/// the reciprocal of the subcarrier spacing, frequencies in units of the spacing.
namespace phy::detail {

inline constexpr int max_streams = 4;
inline constexpr int max_pairs = symbols_per_slot - 1;

/// Sums over a slot's pilots: energy, correlation of neighbours, between neighbouring DM-RS, then the
/// energies of all DM-RS.
inline constexpr int estimator_slot_sums = 3 + 2 * max_pairs + max_pairs + 1;

inline constexpr int max_time_changes = 12;
inline constexpr int max_time_errors = 5;

/// The sets of weights in time, (changes, errors), of which each slot takes one: by how much the channel
/// changes between neighbouring DM-RS, and by the error of an estimate.
struct EstimatorTimeSets {
    int changes;  ///< 1: not measured
    int errors;
    std::array<float, max_time_changes - 1> least_change;  ///< of the second and later ones
    std::array<float, max_time_errors - 1> least_error;    ///< E|error|^2 over power
    /// The mean over symbols of the sum of squared weights, and of the error with perfect estimates.
    std::array<float, max_time_changes * max_time_errors> noise_share;
    std::array<float, max_time_changes * max_time_errors> error_share;
};

struct EstimatorConstants {
    float subcarrier_spacing;
    float energy_share;     ///< 1 / pilots
    float neighbour_share;  ///< 1 / pairs of neighbours; 0: none
    float noise_variance;   ///< 0: measured
    int corrects_timing;
    int corrects_frequency;
    int pairs;  ///< of neighbouring DM-RS; 0: neither frequency nor change are measured
    std::array<float, max_pairs> gaps;  ///< between the DM-RS of a pair
    std::array<float, symbols_per_slot> times;
    float change_share;      ///< 1 / pilots of all pairs
    float symbols_averaged;  ///< per pilot of a stream
    EstimatorTimeSets time;
    float noise_scale;  ///< N0 of a resource element over noise of a pilot of a stream
    int streams;
    std::array<int, max_streams> joint;
    std::array<float, max_streams> ports;
};

/// By kind of stream: single, joint.
struct EstimatorFacts {
    std::array<float, 2> pilots;   ///< in the sum of a stream's energy
    std::array<float, 2> freedom;  ///< of a stream's residual; complex numbers
    /// The weight of the noise in differences of DM-RS, beside that in residuals; 0: it is not used.
    float change_weight;
    float max_residual;  ///< over changes, that chance explains
};

struct SlotState {
    float step;  ///< turns per subcarrier that the timing correction rotates pilots back by
    float frequency_offset;
    float timing;
    float delay_spread;
    float coherence;
    float change;    ///< mean |h - h'|^2 of a pilot and that of the next DM-RS, with the noise of both
    float energy;    ///< mean |h|^2 of a pilot, with noise
    int is_spoiled;  ///< a pilot has no room_of()
    float noise;     ///< of a pilot of a stream
    float noise_variance;
    std::array<float, max_streams> power;   ///< of a coefficient
    std::array<float, 2> noise_over_power;  ///< of a pilot, by kind
    std::array<float, symbols_per_slot> phase_re;
    std::array<float, symbols_per_slot> phase_im;
};

}  // namespace phy::detail
