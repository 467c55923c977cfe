#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/modulation.hpp"

/// Sums over symbols, and the figures that follow from them.
namespace phy {

/// The reference that symbols are measured against.
struct PHY_EXPORT SymbolMeterConfig {
    Modulation modulation = Modulation::qpsk;

    FullScale full_scale = {};  ///< from 2^-80 to 2^80

    /// Amplitude of the constellation, from 2^-40 to 2^40. Symbols are divided by it before decisions.
    float gain = 1.0F;

    friend bool operator==(const SymbolMeterConfig&, const SymbolMeterConfig&) = default;
};

/// Sums over neighbouring symbols y = i + j q, as they are stored: integers are not divided by the full
/// scale. With decisions, w = y / (full_scale gain) is the symbol, and d is the nearest point of the
/// constellation, or the sent one. w and d are in units of 2A, the distance between neighbouring levels of an
/// axis.
///
/// A symbol is left out unless both i^2 + q^2 and |w|^2, in binary32, are below 2^116. This covers NaN,
/// infinity and components of 2^58 and more. Products below 2^-126 lose bits; those below 2^-149 are 0.
///
/// With N0, a symbol is clear if its N0 is above 0 and below (2A)^2 / 8. This selects by N0 alone, so that
/// the selection does not bias the errors. With noise of variance N0, a few decisions of clear symbols are
/// wrong, which makes the mean |w - d|^2 smaller than N0, by 14 % at most: expected_error is N0 / N0 less
/// that, to within 0.5 %. A symbol with an N0 that is not finite is left out.
///
/// Blocks of symbol_tree are summed in binary32, their roots in binary64. join() of the sums of two
/// neighbouring rows of 2^k blocks each gives the sums of both.
struct PHY_EXPORT SymbolSums {
    double i = 0.0;
    double q = 0.0;
    double ii = 0.0;
    double qq = 0.0;
    double iq = 0.0;
    double error = 0.0;    ///< sum of |w - d|^2
    double decided = 0.0;  ///< sum of |d|^2
    double rotated = 0.0;  ///< sum of the imaginary part of y d*

    // With a noise variance N0 per symbol, else 0: sums over clear symbols.
    double clear = 0.0;           ///< number of clear symbols
    double outer = 0.0;           ///< components of d on the outermost levels
    double clear_error = 0.0;     ///< sum of |w - d|^2 / N0, each at most 2^20
    double expected_error = 0.0;  ///< the same, as expected of noise of that variance

    double peak = 0.0;        ///< largest i^2 + q^2
    double error_peak = 0.0;  ///< largest |w - d|^2

    std::uint64_t symbols = 0;     ///< number summed
    std::uint64_t not_finite = 0;  ///< number left out

    friend bool operator==(const SymbolSums&, const SymbolSums&) = default;
};

/// Joins the sums of two neighbours, the left one first.
constexpr SymbolSums join(const SymbolSums& left, const SymbolSums& right) {
    return {.i = left.i + right.i,
            .q = left.q + right.q,
            .ii = left.ii + right.ii,
            .qq = left.qq + right.qq,
            .iq = left.iq + right.iq,
            .error = left.error + right.error,
            .decided = left.decided + right.decided,
            .rotated = left.rotated + right.rotated,
            .clear = left.clear + right.clear,
            .outer = left.outer + right.outer,
            .clear_error = left.clear_error + right.clear_error,
            .expected_error = left.expected_error + right.expected_error,
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

/// Figures of symbols. Powers and offsets are of symbols divided by the full scale. If no symbol was summed,
/// all figures but the counts are NaN.
struct PHY_EXPORT SymbolMeasurement {
    std::uint64_t symbols = 0;     ///< measured
    std::uint64_t not_finite = 0;  ///< left out; see SymbolSums

    double mean_power = 0.0;  ///< E|y|^2
    double peak_power = 0.0;  ///< max |y|^2
    double papr_db = 0.0;     ///< peak_power over mean_power
    double dc_i = 0.0;        ///< E y
    double dc_q = 0.0;

    /// Power of Q over that of I, each without its mean, and the deviation of their axes from a right angle.
    /// The angle is NaN for BPSK and pi/2-BPSK, whose I and Q are one value.
    double iq_gain_db = 0.0;
    double iq_phase_deg = 0.0;

    /// Amplitude of the constellation and its rotation, by least squares of the symbols against the points d.
    /// These and all figures below are exact to binary32 if the amplitude is near the configured gain. With
    /// sent points and an amplitude of 10 times or a tenth of the gain, clean symbols have an EVM of up to
    /// 0.1 %; at 100 times, up to 1 %.
    double gain = 0.0;
    double phase_deg = 0.0;

    /// Error vector magnitude (TS 38.104 annexes B and C) as a ratio: 0.01 is 1 %. evm_rms is the error that
    /// this gain and phase leave, over the rms of the points. evm_peak uses the configured gain, and no
    /// phase.
    double evm_rms = 0.0;
    double evm_peak = 0.0;
    double mer_db = 0.0;  ///< modulation error ratio: -20 log10(evm_rms)

    /// N0, the variance of the complex noise on symbols divided by the configured gain. With decisions, gain
    /// and N0 are corrected for wrong ones (see correct_decisions()) unless that contradicts the mean power.
    /// The EVM is not corrected.
    double noise_variance = 0.0;
    double snr_db = 0.0;  ///< mean power of the constellation over N0
};

/// Source of the points d: decisions, or known sent points.
enum class SymbolReference : std::uint8_t { decisions, sent };

/// Returns the figures that follow from the sums of a SymbolMeter with this configuration, over symbols in
/// this format. Throws ArgumentError if a value is out of its range.
PHY_EXPORT SymbolMeasurement measurement_of(const SymbolSums& sums, const SymbolMeterConfig& config,
                                            SampleFormat format,
                                            SymbolReference reference = SymbolReference::decisions);

/// The amplitude of the constellation, and N0 in the units of that amplitude, from decisions that may go
/// wrong.
struct PHY_EXPORT GainAndNoise {
    double gain = 1.0;
    double noise_variance = 0.0;
};

/// Corrects a measured gain and N0 for wrong decisions. Decisions bias what is measured with them: a wrong
/// one takes a point that is nearer than the true one. For Gaussian noise and equally frequent points, the
/// expected gain and error are known functions of the true ones; this function inverts them. Both values
/// refer to the amplitude of the decisions and to a constellation of unit mean power.
///
/// If most decisions go wrong, the functions are too flat to invert. The result is sound from an SNR of 0 dB
/// for QPSK, 6 dB for 16QAM, 12 dB for 64QAM, 18 dB for 256QAM and 24 dB for 1024QAM; below, it is the best
/// guess.
PHY_EXPORT GainAndNoise correct_decisions(Modulation modulation, const GainAndNoise& measured);

/// Expected mean of |y - d|^2 and of |d|^2 for symbols y and their nearest points d.
struct PHY_EXPORT ExpectedDecisions {
    double error = 0.0;
    double decided = 0.0;
};

/// Returns these means for symbols of this amplitude with Gaussian noise and equally frequent points, decided
/// as if the amplitude were 1. If most decisions go wrong, the error hardly grows with the noise. A gain of 0
/// is noise alone.
PHY_EXPORT ExpectedDecisions expected_decisions(Modulation modulation, const GainAndNoise& symbols);

/// Returns the mean over clear symbols of |w - d|^2 / N0, over that expected of noise of variance N0: 1 if
/// noise alone separates symbols from points, whatever the channel; above 1 for everything else that does.
/// None without clear symbols.
PHY_EXPORT std::optional<double> error_over_noise(const SymbolSums& sums);

/// Who sent symbols.
enum class Transmitter : std::uint8_t { base_station, ue };

/// Returns the largest EVM that TS 38.104 table 6.5.2.2-1 allows a base station, or TS 38.101-1 table
/// 6.4.2.1-1 a UE, as a ratio; none for modulations that the table does not list. Throws ArgumentError for an
/// out-of-range transmitter.
PHY_EXPORT std::optional<double> evm_limit(Modulation modulation,
                                           Transmitter transmitter = Transmitter::base_station);

}  // namespace phy
