#pragma once

#include <cstddef>
#include <span>
#include <vector>

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

/// How the equaliser separates layers. For one layer both are maximum ratio combining.
enum class Equalization {
    mmse,          ///< minimum mean square error, bias removed
    zero_forcing,  ///< no interference between layers, at the cost of more noise
};

struct PHY_EXPORT EqualizerConfig {
    SlotAllocation allocation;  ///< with 1 to 4 layers
    int antennas = 1;           ///< from the number of layers to 16
    Equalization method = Equalization::mmse;
    /// (time_sets, symbols_per_slot, estimates) with up to 14 estimates, see SlotEstimate; empty: one
    /// estimate.
    std::vector<float> time_weights;
    int time_sets = 1;  ///< up to 64
    FullScale full_scale = {};
    bool pairs = false;  ///< with two layers: calls also write LayerPair

    friend bool operator==(const EqualizerConfig&, const EqualizerConfig&) = default;
};

/// The sufficient statistic of two layers in a resource element; see JointDetector. h_0 and h_1 are the
/// columns of the channel H and y the received samples. With a covariance all three are whitened, and N0'
/// is 1.
struct PHY_EXPORT LayerPair {
    alignas(16) cf32 matched[2];  ///< h_i^H y / N0', divided by the phase of the OFDM symbol
    float power[2];               ///< |h_i|^2 / N0'
    cf32 cross;                   ///< h_1^H h_0 / N0'

    friend bool operator==(const LayerPair&, const LayerPair&) = default;
};

/// Turns received resource elements and channel coefficients into symbols with a noise variance.
///
/// The noise per resource element and antenna is N0' = noise_variance + layers x channel_error. MMSE:
/// x = (H^H H + N0' I)^-1 H^H y, divided by its bias mu = 1 - N0' C_ii, with C the inverse matrix; the noise
/// variance of a symbol is N0' C_ii / mu. Zero forcing: the same without N0' I and without bias; the noise
/// variance is N0' C_ii. One layer: h^H y / |h|^2 and N0' / |h|^2. With a covariance R of noise and
/// interference, antennas are whitened by the inverse Cholesky factor of (1 + layers x channel_error / r) R,
/// where r is the mean of R's diagonal: errors have the covariance of the noise that they come from. N0' is 1
/// then, and noise_variance is ignored. The result is divided by the phase of its OFDM symbol.
///
/// OFDM symbols with the same time weights, in each set of them, share one filter matrix per subcarrier. For
/// other symbols, and with EqualizerConfig::pairs, the equations of each resource element are solved. The two
/// methods round differently; the configuration alone decides which is used. For the same configuration every
/// backend, number of threads and split of slots into calls gives the same bytes.
///
/// Erasures. If an element cannot be equalised, its symbol is 0 and its noise variance is +infinity;
/// SoftDemapper gives it soft bits of 0. Causes: channel coefficients, samples or slot values that are not
/// finite; a layer without a channel (MMSE: mu below 2^-20); layers that cannot be separated (a pivot of the
/// factorisation below 2^-18 of its diagonal; erases all layers of the element); a covariance that is not
/// positive definite (erases what it is of); a time_set outside of time_sets (erases the slot); a phase that
/// is NaN (erases its OFDM symbol). Non-finite values of one element affect no other element. Symbols that
/// are not erased have a noise variance of at least 2^-126.
///
/// Not thread-safe: one equaliser per thread. It uses the threads of its Host.
class PHY_EXPORT Equalizer {
public:
    using Config = EqualizerConfig;

    /// Throws ArgumentError if a value is out of its range.
    Equalizer(const Host& host, const Config& config);

    /// Returns the data elements per slot.
    [[nodiscard]] std::size_t elements_per_slot() const;
    /// Returns the symbols per slot: data elements x layers.
    [[nodiscard]] std::size_t symbols_per_slot() const;
    /// Returns the estimates in time per slot.
    [[nodiscard]] int estimates() const;

    /// Equalises all slots. grid: (slots, antennas, symbols, subcarriers). channel and slots: see
    /// SlotEstimate. symbols: (slots, data elements, layers), the order of the codeword; each is the sent
    /// symbol plus noise, without bias. noise_variance: the variance of that noise, in the same shape.
    /// SoftDemapper takes both as they are. covariance, if not empty: (slots, antennas, antennas), or with
    /// subbands() (slots, subbands, antennas, antennas), E[n n^H], replaces N0. pairs: (slots, data elements)
    /// with EqualizerConfig::pairs, else empty; all 0 where a number would not be finite, as in erased slots
    /// and OFDM symbols.
    ///
    /// Throws ArgumentError, and then has written nothing, if sizes do not fit. Without a covariance, it also
    /// throws if a slot's noise_variance is 0 or below, or if its channel_error is negative. Allocates
    /// nothing.
    void operator()(SymbolView grid, std::span<const float> channel, std::span<const SlotEstimate> slots,
                    std::span<cf32> symbols, std::span<float> noise_variance,
                    std::span<const cf32> covariance = {}, std::span<LayerPair> pairs = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "Equalizer"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// Turns received resource elements and channel coefficients in device memory into symbols with a noise
/// variance. Writes the bytes of phy::Equalizer, which documents the arithmetic and the erasures.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. All arrays must be in memory that the device can reach, must not overlap,
/// and must stay there until the work is done. Values are not checked before: a noise_variance that is not
/// positive erases its slot. The grid must be aligned to its samples. Fastest if symbols and noise_variance
/// begin at multiples of 16 bytes. Thread-safe.
class PHY_EXPORT Equalizer {
public:
    using Config = EqualizerConfig;

    /// Copies the map of the allocation to the device. Throws ArgumentError if a value is out of its range,
    /// CudaError if there is not enough memory.
    Equalizer(const Device& device, const Config& config);

    /// As in phy::Equalizer.
    [[nodiscard]] std::size_t elements_per_slot() const;
    [[nodiscard]] std::size_t symbols_per_slot() const;
    [[nodiscard]] int estimates() const;

    /// Returns the bytes of workspace that a call with this many slots and a covariance needs. Calls without
    /// a covariance need none.
    [[nodiscard]] std::size_t workspace_bytes(std::size_t slots) const;

    /// As in phy::Equalizer, on the stream, which must belong to the device. Throws ArgumentError also if the
    /// workspace is too small or does not begin at a multiple of 256 bytes, as every DeviceBuffer does, if
    /// the grid is not aligned, and for more than 65535 slots.
    void operator()(SymbolView grid, DeviceSpan<const float> channel, DeviceSpan<const SlotEstimate> slots,
                    DeviceSpan<cf32> symbols, DeviceSpan<float> noise_variance, cudaStream_t stream,
                    DeviceSpan<const cf32> covariance = {}, DeviceSpan<std::byte> workspace = {},
                    DeviceSpan<LayerPair> pairs = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::Equalizer"> impl_;
};

}  // namespace phy::gpu
