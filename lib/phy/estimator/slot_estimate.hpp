#pragma once

#include <array>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy {

/// Returns the resource blocks of a subband, in which noise and interference have one covariance. Subbands
/// begin with the first resource block of the carrier.
constexpr int subband_blocks(int antennas) {
    return antennas <= 4 ? 4 : 8;
}

/// Returns the number of subbands of a carrier; the last one may be shorter.
constexpr int subbands(int antennas, int resource_blocks) {
    return (resource_blocks + subband_blocks(antennas) - 1) / subband_blocks(antennas);
}

/// The channel in a slot, except for its coefficients. An estimator or the caller provides it.
///
/// The coefficients are an array of floats (slots, estimates, antennas, layers, 2, subcarriers): real parts,
/// then imaginary parts. In OFDM symbol l the channel is phase[l] times the sum over all estimates e of
/// time_weights[time_set][l][e] times the coefficients. It includes the amplitude of data symbols: received =
/// channel x symbol + noise, with symbols of unit mean power.
struct PHY_EXPORT SlotEstimate {
    float noise_variance = 0.0F;  ///< N0 of a resource element at one antenna
    /// Expected E|estimate - channel|^2 of a coefficient; counts as noise of each layer. Of the sum of
    /// estimates with TimeInterpolation::wiener: the mean over the symbols of the allocation; otherwise of
    /// one estimate.
    float channel_error = 0.0F;
    float channel_power = 0.0F;  ///< mean |coefficient|^2
    /// In s; positive: the signal arrives late. The first path with at least 10 % of the strongest one's
    /// power in the measured profile.
    float timing_offset = 0.0F;
    float frequency_offset = 0.0F;  ///< Hz; positive: the received frequency is too high
    float delay_spread = 0.0F;      ///< s, rms of paths with at least 2 %
    /// From 0 to 1: agreement of pilots with their neighbours; about 0 for noise alone.
    float coherence = 0.0F;
    /// Which of the sets of time weights it has: see ChannelEstimator::time_weights().
    std::int32_t time_set = 0;
    /// One per OFDM symbol. NaN: an equaliser erases the symbol; a Receiver sets it if the symbol is
    /// disturbed.
    std::array<cf32, symbols_per_slot> phase = unit_phases();
    /// rad, rms over OFDM symbols without DM-RS: the common phase errors that a PhaseTracker took out, beyond
    /// the phases of the estimator.
    float phase_error = 0.0F;
    std::int32_t tracked_symbols = 0;  ///< OFDM symbols whose common phase error it measured
    /// How many times as much noise as the slot's each OFDM symbol has, at least: see PhaseTracker.
    std::array<float, symbols_per_slot> excess_noise = ones();

    friend bool operator==(const SlotEstimate&, const SlotEstimate&) = default;

private:
    static constexpr std::array<cf32, symbols_per_slot> unit_phases() {
        std::array<cf32, symbols_per_slot> phases = {};
        for (cf32& phase : phases)
            phase = {1.0F, 0.0F};
        return phases;
    }

    static constexpr std::array<float, symbols_per_slot> ones() {
        std::array<float, symbols_per_slot> all = {};
        for (float& one : all)
            one = 1.0F;
        return all;
    }
};

}  // namespace phy
