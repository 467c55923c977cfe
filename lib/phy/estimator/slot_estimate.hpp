#pragma once

#include <array>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy {

/// What is known of the channel in a slot beside its coefficients; from an estimator or from the caller.
///
/// The coefficients are an array of floats (slots, estimates, antennas, layers, 2, subcarriers): real parts,
/// then imaginary parts. In OFDM symbol l the channel is phase[l] times the sum over all estimates e of
/// time_weights[l][e] times the coefficients. It includes the amplitude of data symbols: received = channel x
/// symbol + noise, with symbols of unit mean power.
struct PHY_EXPORT SlotEstimate {
    float noise_variance = 0.0F;  ///< N0 of a resource element at one antenna
    float channel_error =
        0.0F;  ///< expected E|estimate - channel|^2 of a coefficient; counts as noise of each layer
    float channel_power = 0.0F;  ///< mean |coefficient|^2
    /// s; positive: the signal comes late. Where the profile of the filter begins: the first path less a
    /// margin on the early side, no measure of propagation delay.
    float timing_offset = 0.0F;
    float frequency_offset = 0.0F;  ///< Hz; positive: the signal is too high
    float delay_spread = 0.0F;      ///< s, rms
    float coherence =
        0.0F;  ///< from 0 to 1: how well pilots agree with their neighbours; noise alone gives about 0
    float reserved = 0.0F;
    std::array<cf32, symbols_per_slot> phase = unit_phases();  ///< of each OFDM symbol

    friend bool operator==(const SlotEstimate&, const SlotEstimate&) = default;

private:
    static constexpr std::array<cf32, symbols_per_slot> unit_phases() {
        std::array<cf32, symbols_per_slot> phases = {};
        for (cf32& phase : phases)
            phase = {1.0F, 0.0F};
        return phases;
    }
};

}  // namespace phy
