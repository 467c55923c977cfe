#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/demapper_config.hpp"
#include "phy/core/view.hpp"
#include "phy/files/demodulate/spread_blocks.hpp"
#include "phy/files/symbol_check.hpp"

namespace phy::detail {

/// How often values of N0 come: each counts for the powers of two below and above it, in proportion to how
/// near it is to either, so that sums of what is straight in between come out right.
class NoiseHistogram {
public:
    /// From above 0 to 1.
    void add(float noise);

    [[nodiscard]] double mean() const { return sum_ / count_; }

    /// Calls visit(N0, how often).
    template <typename Visit>
    void visit(Visit visit) const {
        for (std::size_t bin = 0; bin < bins_.size(); ++bin)
            if (bins_[bin] != 0.0) visit(value_of(bin), bins_[bin]);
    }

private:
    static double value_of(std::size_t bin);

    std::array<double, 102> bins_ = {};  ///< from 2^1 down; the last is of all that is smaller too
    double sum_ = 0.0;
    double count_ = 0.0;
};

/// Keeps the symbols of a capture that SymbolCheck is about, as they come by.
class SymbolSample {
public:
    struct Config {
        std::uint64_t symbols = 0;  ///< of the capture
        SampleFormat format = SampleFormat::cf32;
        Modulation modulation = Modulation::qpsk;
        float full_scale = 0.0F;  ///< integers: 0 means 2^(bits-1)
        float gain = 1.0F;
        std::optional<float> noise_variance = {};  ///< none: by symbol
    };

    explicit SymbolSample(const Config& config);

    /// Symbols from index first on; noise is empty or as many. In order, and each once.
    void add(std::uint64_t first, SymbolView symbols, std::span<const float> noise);

    [[nodiscard]] SymbolCheck check() const;

private:
    [[nodiscard]] double rounding_noise() const;
    [[nodiscard]] double promised_evm(double more_noise) const;
    [[nodiscard]] SymbolDoubt doubt_of(const SymbolCheck& check) const;
    [[nodiscard]] bool shows_no_constellation(const SymbolCheck& check) const;
    [[nodiscard]] bool has_other_power(const SymbolCheck& check) const;
    [[nodiscard]] bool has_other_noise(const SymbolCheck& check) const;

    Config config_;
    SpreadBlocks blocks_;
    std::vector<cf32> symbols_;  ///< divided; those that do not count are NaN
    NoiseHistogram noise_;
};

}  // namespace phy::detail
