#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "phy/channel/slot_allocation.hpp"
#include "phy/channel/slot_estimate.hpp"
#include "phy/core/export.hpp"
#include "phy/core/host.hpp"
#include "phy/core/view.hpp"

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
        time_weights;         ///< (symbols_per_slot, estimates), see SlotEstimate; empty: one estimate a slot
    float full_scale = 0.0F;  ///< integer samples: the value of 1.0; 0 means 2^(bits-1)

    friend bool operator==(const EqualizerConfig&, const EqualizerConfig&) = default;
};

/// Received resource elements and channel coefficients to symbols and their noise variance.
class PHY_EXPORT Equalizer {
public:
    using Config = EqualizerConfig;

    /// Throws ArgumentError if a value is out of its range.
    Equalizer(const Host& host, const Config& config);
    ~Equalizer();
    Equalizer(Equalizer&&) noexcept;
    Equalizer& operator=(Equalizer&&) noexcept;

    /// Symbols of a slot: data elements x layers.
    [[nodiscard]] std::size_t symbols_per_slot() const;

    /// Equalises all slots. grid: (slots, antennas, symbols, subcarriers); channel and slots: see
    /// SlotEstimate. symbols: (slots, data elements, layers), which is the order of the codeword: unbiased,
    /// symbol + noise of variance noise_variance, which has the same shape; both go into SoftDemapper as they
    /// are. covariance, if not empty: (slots, antennas, antennas), E[n n^H] in place of N0.
    ///
    /// Throws ArgumentError if sizes do not fit.
    void operator()(SymbolView grid, std::span<const float> channel, std::span<const SlotEstimate> slots,
                    std::span<cf32> symbols, std::span<float> noise_variance,
                    std::span<const cf32> covariance = {}) const;

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace phy
