#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/view.hpp"
#include "phy/files/options.hpp"
#include "phy/files/spread_blocks.hpp"
#include "phy/files/symbol_check.hpp"

namespace phy::detail {

/// A histogram of N0. Each value is split between the powers of two below and above it by its distances, so
/// that sums of functions that are linear in between are exact.
class NoiseHistogram {
public:
    /// noise: above 0, at most 1.
    void add(float noise);

    [[nodiscard]] double mean() const { return sum_ / count_; }

    /// Calls visit(N0, count).
    template <typename Visit>
    void visit(Visit visit) const {
        for (std::size_t bin = 0; bin < bins_.size(); ++bin)
            if (bins_[bin] != 0.0) visit(value_of(bin), bins_[bin]);
    }

private:
    static double value_of(std::size_t bin);

    std::array<double, 102> bins_ = {};  ///< from 2^1 down; the last also has all smaller values
    double sum_ = 0.0;
    double count_ = 0.0;
};

/// Keeps the symbols for SymbolCheck while the capture is read.
class SymbolSample {
public:
    struct Config {
        ItemRange range;  ///< of the capture
        SampleFormat format = SampleFormat::cf32;
        Modulation modulation = Modulation::qpsk;
        FullScale full_scale = {};
        float gain = 1.0F;
    };

    explicit SymbolSample(const Config& config);

    /// Adds symbols from index first of the capture on; noise: empty, or one per symbol. Call it in order,
    /// once per symbol of the range.
    void add(std::uint64_t first, SymbolView symbols, std::span<const float> noise);

    /// Instead of add(): reads no other symbols than those that are kept, without noise.
    void read(CaptureReader& capture);

    /// noise_variance: that of all symbols; none: one per symbol, as added.
    [[nodiscard]] SymbolCheck check(std::optional<float> noise_variance);

private:
    [[nodiscard]] double rounding_noise() const;
    [[nodiscard]] double expected_evm(double more_noise) const;
    [[nodiscard]] SymbolMismatch mismatch_of(SymbolCheck& check) const;
    [[nodiscard]] std::vector<cf32> scaled_symbols(const SymbolCheck& check) const;
    [[nodiscard]] std::optional<Modulation> likelier_modulation(const SymbolCheck& check,
                                                                std::span<const cf32> scaled,
                                                                std::size_t max_bits) const;
    [[nodiscard]] bool shows_no_constellation(const SymbolCheck& check) const;
    [[nodiscard]] bool has_other_power(const SymbolCheck& check) const;
    [[nodiscard]] bool has_other_noise(const SymbolCheck& check) const;

    Config config_;
    std::optional<float> noise_variance_;
    ItemRange range_;            ///< for pi/2-BPSK from an even symbol on
    SpreadBlocks blocks_;        ///< counted from there
    std::vector<cf32> symbols_;  ///< after the division; NaN if they do not count
    NoiseHistogram noise_;
};

}  // namespace phy::detail
