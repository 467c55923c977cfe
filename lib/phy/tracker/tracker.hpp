#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/host.hpp"

namespace phy {

struct PHY_EXPORT PhaseTrackerConfig {
    SlotAllocation allocation;                 ///< where the data and the DM-RS are
    Modulation modulation = Modulation::qpsk;  ///< of all layers

    friend bool operator==(const PhaseTrackerConfig&, const PhaseTrackerConfig&) = default;
};

/// Equalised PT-RS of slots, and what they repeat.
struct PHY_EXPORT PtrsSymbols {
    /// (slots, PT-RS elements, layers). An Equalizer for ptrs_allocation() writes them. With transform
    /// precoding they are PrecoderInput::ptrs, taken from what a TransformDeprecoder writes.
    std::span<const cf32> symbols = {};
    std::span<const float> noise_variance = {};  ///< same shape
    std::span<const cf32> pilots = {};  ///< (slots, ptrs_pilot_count()), as ptrs_pilots() writes them
};

/// Takes the common phase error out of equalised symbols: the phase that oscillators add to all resource
/// elements of an OFDM symbol. Measures it by decisions on the data, and by PT-RS where there are some. Also
/// measures which OFDM symbols have more noise than their noise variances say: from a burst, from an
/// oscillator, from a channel that has changed since the DM-RS.
///
/// DM-RS symbols, and data in them, are left as the channel estimates have them. From there the phase is
/// followed from one OFDM symbol to the next, until half-way to the next DM-RS. Symbols x with noise variance
/// n, rotated back by the current phase, give the next step:
///
///     S / F  with  S = sum of Im(x d*) / n  and  F = sum of Re(x d*) / n - 2 Var[Im(x d*) | x] / n^2
///
/// where d is the mean of the sent point, given x; per axis, over the nearest level and the next one. This is
/// a step of Newton's method to the phase of maximum likelihood, whose variance is 1 / 2F. Two such steps are
/// made. Before them, larger steps up to about 0.2 rad are tried, three quarters of the distance from a point
/// to its decision threshold apart. One is taken if it lowers the sum of |x - nearest point|^2 / n over k
/// symbols by more than 4 sqrt(k), both below that of no step and below that of the same step to the other
/// side: points of a wrong modulation fit to both sides alike.
///
/// PT-RS x, sent as d, add their sums of Im(x d*) / n, Re(x d*) / n and |x - d|^2 / n; n is larger where they
/// show more noise. Six or more whose phase has a standard deviation of at most 1/8 are clear: if the current
/// phase is more than 4 standard deviations from theirs, steps begin there, and the result is theirs if data
/// say none, or one more than 7 away. So phases are found however far they are from those of the neighbours.
/// Between OFDM symbols with clear PT-RS, steps begin in proportion between the phase before and theirs.
/// PT-RS of an OFDM symbol count as none if |sum of x d* / n| is below half of the sum of |d|^2 / n, as where
/// none were sent, and where the OFDM symbol has no data.
///
/// At most 512 symbols of an OFDM symbol are used, in runs of 16 that are evenly spread, and none whose noise
/// variance is not finite and positive. With more than two levels per axis, n must be below half of the
/// squared distance between levels. Without clear PT-RS an OFDM symbol keeps the phase of its neighbour if
/// its symbols cannot measure it: fewer than 20 with its PT-RS, a standard deviation above 1/8, F below a
/// quarter of its first part, or a step beyond 1/2. If symbols are farther from points than n explains, F and
/// the limit of 4 sqrt(k) scale with that.
///
/// A slot is turned only if its phases are more than chance explains: if the sum of 2 F |p - 1|^2 over m
/// OFDM symbols with a measured phase p exceeds 4 (m + 2), where F counts less the more doubtful decisions
/// are. Then SlotEstimate::phase is multiplied by p, and phase_error and tracked_symbols are set.
///
/// SlotEstimate::excess_noise becomes g where an OFDM symbol without DM-RS has more noise than its n say,
/// else stays 1: if the mean of min(|x - nearest point|^2 / n, 4) over k symbols, at least 50, is above (1 -
/// exp(-4)) (1 + 5 / sqrt(k)). g is where the mean of min(|x - nearest point|^2 / n, 4 g) is about (1 -
/// exp(-4)) g (Huber's proposal 2), so that a few spoilt symbols count little. Wrong decisions make g
/// smaller: g n never says more than about a sixth of the squared distance between levels. raise_noise() puts
/// it into noise variances.
///
/// A symbol that is not finite keeps its OFDM symbol from being measured, and stays so.
///
/// For the same finite input, every backend, number of threads and split of slots into calls gives the same
/// bytes. Not thread-safe: one tracker per thread. It uses the threads of its Host.
class PHY_EXPORT PhaseTracker {
public:
    using Config = PhaseTrackerConfig;

    /// Throws ArgumentError if a value is out of its range.
    PhaseTracker(const Host& host, const Config& config);

    /// Data elements x layers.
    [[nodiscard]] std::size_t symbols_per_slot() const;

    /// symbols: (slots, data elements, layers), as an Equalizer or a TransformDeprecoder writes them, of the
    /// latter PrecoderInput::data.
    /// noise_variance: same shape. pairs, if not empty: (slots, data elements) of two layers, rotated as the
    /// symbols are. ptrs, if not empty: the PT-RS of the allocation. Throws ArgumentError, and then has
    /// written nothing, if sizes do not fit. Allocates nothing.
    void operator()(std::span<cf32> symbols, std::span<const float> noise_variance,
                    std::span<SlotEstimate> slots, std::span<LayerPair> pairs = {},
                    const PtrsSymbols& ptrs = {});

    /// Multiplies noise variances by SlotEstimate::excess_noise of their OFDM symbols, and divides pairs, if
    /// not empty, by it: all their numbers. To be called once after a call, with its shapes and errors; apart
    /// from it, so that symbols can be measured against the noise variances of before.
    void raise_noise(std::span<const SlotEstimate> slots, std::span<float> noise_variance,
                     std::span<LayerPair> pairs = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "PhaseTracker"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// phy::PtrsSymbols in device memory.
struct PHY_EXPORT PtrsSymbols {
    DeviceSpan<const cf32> symbols = {};
    DeviceSpan<const float> noise_variance = {};
    DeviceSpan<const cf32> pilots = {};
};

/// Takes the common phase error out of symbols in device memory. Writes the bytes of phy::PhaseTracker.
///
/// A call starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait, and
/// can be captured in a graph. All arrays must be in memory that the device can reach, must not overlap, and
/// must stay there until the work is done. Thread-safe.
class PHY_EXPORT PhaseTracker {
public:
    using Config = PhaseTrackerConfig;

    /// Copies where PT-RS are to the device. Throws ArgumentError if a value is out of its range, CudaError
    /// if there is not enough memory.
    PhaseTracker(const Device& device, const Config& config);

    /// As in phy::PhaseTracker.
    [[nodiscard]] std::size_t symbols_per_slot() const;

    /// Returns the bytes of workspace that a call with this many slots needs.
    [[nodiscard]] std::size_t workspace_bytes(std::size_t slots) const;

    /// As in phy::PhaseTracker, on the stream, which must belong to the device. Throws ArgumentError also if
    /// the workspace is too small or does not begin at a multiple of 256 bytes, as every DeviceBuffer does.
    void operator()(DeviceSpan<cf32> symbols, DeviceSpan<const float> noise_variance,
                    DeviceSpan<SlotEstimate> slots, DeviceSpan<std::byte> workspace, cudaStream_t stream,
                    DeviceSpan<LayerPair> pairs = {}, const PtrsSymbols& ptrs = {}) const;

    /// As in phy::PhaseTracker, on the stream, which must belong to the device.
    void raise_noise(DeviceSpan<const SlotEstimate> slots, DeviceSpan<float> noise_variance,
                     cudaStream_t stream, DeviceSpan<LayerPair> pairs = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::PhaseTracker"> impl_;
};

}  // namespace phy::gpu
