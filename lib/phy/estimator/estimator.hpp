#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// How the estimator gets the channel in all symbols from that in DM-RS symbols.
enum class TimeInterpolation {
    average,  ///< one estimate per slot: the mean over all DM-RS
    linear,   ///< linear between neighbouring DM-RS; constant before the first and after the last
    /// Wiener weights from the correlation of Jakes' spectrum (J0) with doppler_spread, or with what the
    /// slot's DM-RS show of it: from a mean over them for a standing user to a curve for a fast one.
    wiener,
};

struct PHY_EXPORT ChannelEstimatorConfig {
    SlotAllocation allocation;
    int antennas = 1;                     ///< from 1 to 16
    double subcarrier_spacing = 30000.0;  ///< Hz, from 1e3 to 1e7
    /// The longest expected rms delay spread in s: from 1e-5 to 0.1 over subcarrier_spacing; none: paths may
    /// arrive within 1.5 cyclic prefixes (1 or 0.5 if no range is longer than a resource block). The
    /// power-delay profile is measured in each slot in any case. Paths that arrive more than 12 spreads
    /// before or after the middle of it count as noise. If in doubt, give none: see
    /// docs/developer/estimator.md.
    std::optional<float> delay_spread = {};
    std::optional<float> noise_variance = {};  ///< N0 at an antenna, up to 2^80; none: measured in each slot
    TimeInterpolation time = TimeInterpolation::linear;  ///< receivers use wiener
    /// Max Doppler shift in Hz, above 0 and up to subcarrier_spacing, for TimeInterpolation::wiener alone.
    /// None: it is measured in each slot.
    std::optional<float> doppler_spread = {};
    /// Estimates the timing offset, removes it before averaging, and puts it back.
    bool corrects_timing = true;
    bool corrects_frequency = true;  ///< estimates the frequency offset between DM-RS symbols and removes it
    FullScale full_scale = {};

    friend bool operator==(const ChannelEstimatorConfig&, const ChannelEstimatorConfig&) = default;
};

/// Estimates channel coefficients from pilots: least squares, codes, timing and frequency offsets, the
/// power-delay profile, then a Wiener filter in frequency (docs/developer/estimator.md). Every backend,
/// number of threads and batch gives the same bytes.
///
/// Pilots of erased subcarriers are not used, and coefficients there are 0: an Equalizer erases them.
///
/// If the least-squares value of a pilot is not finite, or beyond 2^40, the pilot counts as 0, and the noise
/// variance of the slot and the diagonal of its covariance are infinite. All other outputs are finite. A slot
/// without power has coefficients and coherence of 0, and a measured noise of 2^-126, the minimum. An
/// Equalizer erases both kinds of slots.
///
/// Not thread-safe: one estimator per thread. The threads of the host share a call.
class PHY_EXPORT ChannelEstimator {
public:
    using Config = ChannelEstimatorConfig;

    /// Shares the tables of estimators of the same configuration; those of the last two configurations stay
    /// in memory. Throws ArgumentError if a value is out of its range.
    ChannelEstimator(const Host& host, const Config& config);

    /// Returns the estimates in time per slot: 1, or one per DM-RS (a double one counts once).
    [[nodiscard]] int estimates() const;
    /// Returns the floats per slot of the coefficients.
    [[nodiscard]] std::size_t channel_size() const;
    /// Returns an array (time_sets(), symbols_per_slot, estimates); see SlotEstimate.
    [[nodiscard]] std::span<const float> time_weights() const;
    /// Returns the number of sets of weights, of which each slot has one: 1, but for
    /// TimeInterpolation::wiener.
    [[nodiscard]] int time_sets() const;

    /// Estimates all slots. grid: (slots, antennas, symbols, subcarriers). pilots: (slots, DM-RS symbols,
    /// pilots) from dmrs_pilots(). channel: slots x channel_size() floats (see SlotEstimate); nothing is
    /// written outside the allocation. covariance, if not empty: (slots, antennas, antennas), or with
    /// subbands() (slots, subbands, antennas, antennas): E[n n^H] of noise and interference at a resource
    /// element of data, whose mean on the diagonal is the slot's noise_variance. It is measured as what
    /// pilots differ by from the estimate; the fewer they are, the more of a weak correlation, and of
    /// differences between subbands, counts as chance and is left out. Throws ArgumentError if sizes do not
    /// fit.
    void operator()(SymbolView grid, std::span<const cf32> pilots, std::span<float> channel,
                    std::span<SlotEstimate> slots, std::span<cf32> covariance = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "ChannelEstimator"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// Estimates channel coefficients from pilots in device memory. Writes the bytes of phy::ChannelEstimator.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Measured values stay on the device. All arrays must be in memory that the
/// device can reach, must not overlap, and must stay there until the work is done. An estimator has one
/// workspace: its calls must not run on several streams at once.
class PHY_EXPORT ChannelEstimator {
public:
    using Config = phy::ChannelEstimatorConfig;

    /// max_slots is the max number of slots per call, from 1 to 65535; the workspace grows with it. Throws
    /// what phy::ChannelEstimator throws, ArgumentError if max_slots is out of its range, CudaError if there
    /// is not enough memory.
    ChannelEstimator(const Device& device, const Config& config, std::size_t max_slots);

    /// As in phy::ChannelEstimator.
    [[nodiscard]] int estimates() const;
    [[nodiscard]] std::size_t channel_size() const;
    [[nodiscard]] std::span<const float> time_weights() const;
    [[nodiscard]] int time_sets() const;

    /// As in phy::ChannelEstimator, on the stream, which must belong to the device. Throws ArgumentError also
    /// for more than max_slots slots.
    void operator()(SymbolView grid, DeviceSpan<const cf32> pilots, DeviceSpan<float> channel,
                    DeviceSpan<SlotEstimate> slots, cudaStream_t stream,
                    DeviceSpan<cf32> covariance = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;
    [[nodiscard]] std::size_t max_slots() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::ChannelEstimator"> impl_;
};

}  // namespace phy::gpu
