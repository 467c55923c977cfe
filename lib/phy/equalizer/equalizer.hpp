#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// How layers are separated. For one layer both are maximum ratio combining.
enum class Equalization {
    mmse,          ///< least mean square error, with the bias taken out
    zero_forcing,  ///< no interference between layers, whatever that does to the noise
};

struct PHY_EXPORT EqualizerConfig {
    SlotAllocation allocation;  ///< with 1 to 4 layers
    int antennas = 1;           ///< from the number of layers to 16
    Equalization method = Equalization::mmse;
    std::vector<float>
        time_weights;  ///< (symbols_per_slot, estimates), see SlotEstimate; up to 14 estimates; empty: one
    float full_scale = 0.0F;  ///< integer samples: the value of 1.0; 0 means 2^(bits-1)

    friend bool operator==(const EqualizerConfig&, const EqualizerConfig&) = default;
};

/// Received resource elements and channel coefficients to symbols and their noise variance.
///
/// N0' = noise_variance + layers x channel_error is what disturbs a resource element at one antenna. MMSE:
/// x = (H^H H + N0' I)^-1 H^H y, divided by its bias mu = 1 - N0' C_ii, with C the inverse matrix; the noise
/// variance of a symbol is N0' C_ii / mu. Zero forcing: the same without N0' I and without bias, N0' C_ii.
/// One layer: h^H y / |h|^2 and N0' / |h|^2. With a covariance R of noise and interference, antennas are
/// whitened by the inverse Cholesky factor of R + layers x channel_error x I, and N0' is 1; noise_variance is
/// not looked at. A received sample is divided by the phase of its OFDM symbol at the end.
///
/// Where several OFDM symbols have the same time weights, one filter matrix is made for each subcarrier and
/// applied to all of them; elsewhere the equations of each resource element are solved. Both round
/// differently; which one is used follows from the configuration alone. For the same configuration every
/// backend, number of threads and way to cut slots into calls gives the same bytes.
///
/// Erasures. Where nothing can be concluded the symbol is 0 and its noise variance +infinity, of which a
/// SoftDemapper makes soft bits of 0: channel coefficients, samples or slot values that are not finite, no
/// channel of a layer (MMSE: mu below 2^-20), layers that cannot be told apart (a pivot of the
/// factorisation below 2^-18 of its diagonal; then all layers of the element), a covariance that is not
/// positive definite (then the whole slot). What is not finite in one element spoils no other.
///
/// Not thread-safe: one equaliser a thread. It uses the threads of its Host.
class PHY_EXPORT Equalizer {
public:
    using Config = EqualizerConfig;

    /// Throws ArgumentError if a value is out of its range.
    Equalizer(const Host& host, const Config& config);
    ~Equalizer();
    Equalizer(Equalizer&&) noexcept;
    Equalizer& operator=(Equalizer&&) noexcept;

    /// Data elements of a slot.
    [[nodiscard]] std::size_t elements_per_slot() const;
    /// Symbols of a slot: data elements x layers.
    [[nodiscard]] std::size_t symbols_per_slot() const;
    /// Estimates in time of a slot.
    [[nodiscard]] int estimates() const;

    /// Equalises all slots. grid: (slots, antennas, symbols, subcarriers); channel and slots: see
    /// SlotEstimate. symbols: (slots, data elements, layers), which is the order of the codeword: unbiased,
    /// symbol + noise of variance noise_variance, which has the same shape; both go into SoftDemapper as they
    /// are. covariance, if not empty: (slots, antennas, antennas), E[n n^H] in place of N0. Allocates
    /// nothing.
    ///
    /// Throws ArgumentError, and has written nothing, if sizes do not fit, or for a noise_variance that is 0
    /// or below or a negative channel_error.
    void operator()(SymbolView grid, std::span<const float> channel, std::span<const SlotEstimate> slots,
                    std::span<cf32> symbols, std::span<float> noise_variance,
                    std::span<const cf32> covariance = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "Equalizer"> impl_;
};

}  // namespace phy
