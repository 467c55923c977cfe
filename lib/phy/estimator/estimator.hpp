#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// How the channel between and around DM-RS symbols follows from that at them.
enum class TimeInterpolation {
    average,  ///< one estimate a slot: the mean over all DM-RS
    linear,   ///< on the line through neighbouring DM-RS; before the first and after the last as there
    wiener,   ///< by the correlation of Jakes' spectrum (J0) with doppler_spread
};

struct PHY_EXPORT ChannelEstimatorConfig {
    SlotAllocation allocation;
    int antennas = 1;                     ///< from 1 to 16
    double subcarrier_spacing = 30000.0;  ///< Hz, from 1e3 to 1e7
    /// Of the exponential profile, rms, in s; 0: measured in each slot. Where a slot shows clearly more than
    /// what is given, up to twice that is reckoned with. Rather too long than too short: see
    /// docs/developer/estimator.md.
    float delay_spread = 0.0F;
    float noise_variance = 0.0F;  ///< N0 at an antenna; 0: measured in each slot
    TimeInterpolation time = TimeInterpolation::linear;
    float doppler_spread = 0.0F;     ///< Hz, largest; TimeInterpolation::wiener takes one above 0
    bool corrects_timing = true;     ///< the offset is estimated, taken out before averaging and put back
    bool corrects_frequency = true;  ///< the offset between DM-RS symbols is estimated and taken out
    float full_scale = 0.0F;         ///< integer samples: the value of 1.0; 0 means 2^(bits-1)

    friend bool operator==(const ChannelEstimatorConfig&, const ChannelEstimatorConfig&) = default;
};

/// Pilots to channel coefficients: least squares, codes, timing and frequency offsets, then a Wiener filter
/// in frequency (docs/developer/estimator.md). Every backend, number of threads and batch gives the same
/// bytes.
///
/// Where least squares are not finite, or beyond 2^40, a pilot counts as 0, and the noise variance of the
/// slot and the diagonal of its covariance are infinite. All else that is written is finite. A slot without
/// power has coefficients and coherence of 0, and a measured noise of 2^-126, the least there is. An
/// Equalizer erases both.
///
/// The threads of the host share a call. An estimator has one workspace: it may be used by one thread at a
/// time.
class PHY_EXPORT ChannelEstimator {
public:
    using Config = ChannelEstimatorConfig;

    /// Throws ArgumentError if a value is out of its range, or if there are too few pilots for what is to be
    /// measured: a delay spread takes two resource blocks, noise more pilots than the channel has modes.
    ChannelEstimator(const Host& host, const Config& config);

    /// For another thread or host: shares what `other` has prepared, which takes most of the time and memory.
    ChannelEstimator(const Host& host, const ChannelEstimator& other);
    ~ChannelEstimator();
    ChannelEstimator(ChannelEstimator&&) noexcept;
    ChannelEstimator& operator=(ChannelEstimator&&) noexcept;

    /// Estimates in time of a slot: 1, or one for each DM-RS, a double one counting once.
    [[nodiscard]] int estimates() const;
    /// Floats of a slot's coefficients.
    [[nodiscard]] std::size_t channel_size() const;
    /// (symbols_per_slot, estimates); see SlotEstimate.
    [[nodiscard]] std::span<const float> time_weights() const;

    /// Estimates all slots. grid: (slots, antennas, symbols, subcarriers). pilots: (slots, DM-RS symbols,
    /// pilots) of dmrs_pilots(). channel: slots x channel_size() floats (see SlotEstimate); outside of the
    /// allocation nothing is written. covariance, if not empty: (slots, antennas, antennas), that of noise
    /// and interference E[n n^H], measured at the pilots. Throws ArgumentError if sizes do not fit.
    void operator()(SymbolView grid, std::span<const cf32> pilots, std::span<float> channel,
                    std::span<SlotEstimate> slots, std::span<cf32> covariance = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "ChannelEstimator"> impl_;
};

}  // namespace phy
