#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"

/// What is summed over symbols, and what follows from it.
namespace phy {

/// What symbols are measured against.
struct PHY_EXPORT SymbolMeterConfig {
    Modulation modulation = Modulation::qpsk;

    /// Integer samples: the value of 1.0, from 2^-80 to 2^80; 0 means 2^(bits-1).
    float full_scale = 0.0F;

    /// The amplitude of the constellation: symbols are divided by it before they are decided. From 2^-40 to
    /// 2^40.
    float gain = 1.0F;

    friend bool operator==(const SymbolMeterConfig&, const SymbolMeterConfig&) = default;
};

/// Sums over neighbouring symbols y = i + j q, whose components are numbers as they are stored: integers are
/// not divided. Where there are decisions, w = y / (full_scale gain) is the symbol and d the point of the
/// constellation that is nearest to it, or the one that was sent; both are in units of the distance between
/// neighbouring levels of an axis, 2A.
///
/// A symbol is left out where i^2 + q^2 or |w|^2, in binary32, is not below 2^116: with a NaN, an infinity,
/// or components that are as large as 2^58. Products below 2^-126 lose bits, those below 2^-149 are 0.
///
/// By blocks of symbol_tree the sums are in binary32, from the roots of blocks on in binary64. The sums of
/// two neighbouring rows of 2^k blocks each are join() of theirs.
struct PHY_EXPORT SymbolSums {
    double i = 0.0;
    double q = 0.0;
    double ii = 0.0;
    double qq = 0.0;
    double iq = 0.0;
    double error = 0.0;    ///< of |w - d|^2
    double decided = 0.0;  ///< of |d|^2
    double turned = 0.0;   ///< of the imaginary part of y d*

    double peak = 0.0;        ///< the largest i^2 + q^2
    double error_peak = 0.0;  ///< the largest |w - d|^2

    std::uint64_t symbols = 0;     ///< that were summed
    std::uint64_t not_finite = 0;  ///< that were left out

    friend bool operator==(const SymbolSums&, const SymbolSums&) = default;
};

/// Of two neighbours, the left one first.
constexpr SymbolSums join(const SymbolSums& left, const SymbolSums& right) {
    return {.i = left.i + right.i,
            .q = left.q + right.q,
            .ii = left.ii + right.ii,
            .qq = left.qq + right.qq,
            .iq = left.iq + right.iq,
            .error = left.error + right.error,
            .decided = left.decided + right.decided,
            .turned = left.turned + right.turned,
            .peak = left.peak < right.peak ? right.peak : left.peak,
            .error_peak = left.error_peak < right.error_peak ? right.error_peak : left.error_peak,
            .symbols = left.symbols + right.symbols,
            .not_finite = left.not_finite + right.not_finite};
}

/// join() as a function object, for NodeJoiner.
struct JoinSymbolSums {
    constexpr SymbolSums operator()(const SymbolSums& left, const SymbolSums& right) const {
        return join(left, right);
    }
};

/// What symbols are like. Powers and offsets are of the symbols divided by the full scale. Where no symbol
/// was summed, all numbers but the counts are NaN.
struct PHY_EXPORT SymbolMeasurement {
    std::uint64_t symbols = 0;     ///< measured
    std::uint64_t not_finite = 0;  ///< left out; see SymbolSums

    double mean_power = 0.0;  ///< E|y|^2
    double peak_power = 0.0;  ///< max |y|^2
    double papr_db = 0.0;     ///< the ratio of both
    double dc_i = 0.0;        ///< E y
    double dc_q = 0.0;

    /// The power of Q over that of I, each without its mean, and how far their axes are from a right angle;
    /// the angle is NaN for BPSK and pi/2-BPSK, whose I and Q are one value.
    double iq_gain_db = 0.0;
    double iq_phase_deg = 0.0;

    /// The amplitude of the constellation, and the phase by which it is turned: by least squares of the
    /// symbols against the points d. This and what follows is exact to binary32 where the amplitude is near
    /// the configured gain. Where known points show it to be 10 times as large, or a tenth, clean symbols
    /// have an EVM of up to 0.1 %; at 100 times, of up to 1 %.
    double gain = 0.0;
    double phase_deg = 0.0;

    /// The error vector magnitude that this gain and phase leave, over the root mean square of the points (TS
    /// 38.104 annex B and C); the peak is with the configured gain, and no phase. Ratios: 0.01 is 1 %.
    double evm_rms = 0.0;
    double evm_peak = 0.0;
    double mer_db = 0.0;  ///< the modulation error ratio: -20 log10(evm_rms)

    /// N0, the variance of the complex noise on symbols divided by the configured gain. By decisions, gain
    /// and N0 are corrected for those that go wrong (see correct_decisions()), unless that contradicts the
    /// mean power; the EVM is not.
    double noise_variance = 0.0;
    double snr_db = 0.0;  ///< the mean power of the constellation over N0
};

/// Whether the points d were decided or known.
enum class SymbolReference : std::uint8_t { decisions, sent };

/// What follows from sums that a SymbolMeter of this configuration has made of symbols in this format.
PHY_EXPORT SymbolMeasurement measurement_of(const SymbolSums& sums, const SymbolMeterConfig& config,
                                            SampleFormat format,
                                            SymbolReference reference = SymbolReference::decisions);

/// The amplitude of the constellation and N0 at that amplitude's unit, by decisions that may go wrong.
struct PHY_EXPORT GainAndNoise {
    double gain = 1.0;
    double noise_variance = 0.0;
};

/// Decisions bias what is measured with them: a wrong one takes a nearer point than the true one. With
/// Gaussian noise and points that are equally frequent, the expected values of the measured gain and error
/// are known functions of the true ones; this finds the true ones whose expected values are as measured. Both
/// are of the amplitude that was used to decide, and of the constellation of unit mean power.
///
/// Where most decisions go wrong, the functions are too flat to be turned round: from 0 dB on for QPSK, 6 dB
/// for 16QAM, 12 dB for 64QAM, 18 dB for 256QAM and 24 dB for 1024QAM the result is sound; below it is the
/// best guess.
PHY_EXPORT GainAndNoise correct_decisions(Modulation modulation, const GainAndNoise& measured);

/// What symbols and the nearest points are expected to show of each other: the mean of |y - d|^2 and of
/// |d|^2.
struct PHY_EXPORT ExpectedDecisions {
    double error = 0.0;
    double decided = 0.0;
};

/// Of symbols with Gaussian noise, whose points are equally frequent and have this amplitude, decided as if
/// it were 1. Where most decisions go wrong the error hardly grows with the noise. A gain of 0 is noise
/// alone.
PHY_EXPORT ExpectedDecisions expected_decisions(Modulation modulation, const GainAndNoise& symbols);

/// The largest EVM that TS 38.104 table 6.5.2.2-1 lets a base station transmit with, as a ratio; none for
/// modulations that it does not have.
PHY_EXPORT std::optional<double> evm_limit(Modulation modulation);

}  // namespace phy
