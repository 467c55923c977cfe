#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/share.hpp"
#include "phy/measure/math/symbol_scale.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy {

using detail::elementary::decibels;

namespace {

double full_scale_of(const SymbolMeterConfig& config, SampleFormat format) {
    return config.full_scale.value_for(format);
}

constexpr double degrees = 180.0 / std::numbers::pi;

double mean_power_of(const SymbolSums& sums, double full_scale) {
    return (sums.ii + sums.qq) / static_cast<double>(sums.symbols) * (1.0 / (full_scale * full_scale));
}

void set_powers(SymbolMeasurement& to, const SymbolSums& sums, double full_scale) {
    const auto count = static_cast<double>(sums.symbols);
    const double power_unit = 1.0 / (full_scale * full_scale);
    to.mean_power = mean_power_of(sums, full_scale);
    to.peak_power = sums.symbols == 0 ? std::numeric_limits<double>::quiet_NaN() : sums.peak * power_unit;
    to.papr_db = decibels(to.peak_power / to.mean_power);
    to.dc_i = sums.i / count / full_scale;
    to.dc_q = sums.q / count / full_scale;
}

void set_imbalance(SymbolMeasurement& to, const SymbolSums& sums, Modulation modulation) {
    const auto count = static_cast<double>(sums.symbols);
    const double ii = sums.ii - sums.i * sums.i / count;
    const double qq = sums.qq - sums.q * sums.q / count;
    const double iq = sums.iq - sums.i * sums.q / count;
    // If I or Q varies by rounding alone, its imbalance is unknown.
    const bool varies = ii > 1e-6 * sums.ii && qq > 1e-6 * sums.qq;
    const bool has_phase = varies && bits_per_symbol(modulation) > 1;
    to.iq_gain_db = varies ? decibels(qq / ii) : std::numeric_limits<double>::quiet_NaN();
    to.iq_phase_deg =
        has_phase ? detail::elementary::angle_of({std::sqrt(std::max(ii * qq - iq * iq, 0.0)), iq}) * degrees
                  : std::numeric_limits<double>::quiet_NaN();
}

/// The corrected values, if they imply the measured power to within chance for so many symbols. Otherwise the
/// noise is not Gaussian, or the points are not of this constellation, and only the measured values are
/// known.
GainAndNoise credible(const GainAndNoise& corrected, const GainAndNoise& measured, double power,
                      double count) {
    const double expected = corrected.gain * corrected.gain + corrected.noise_variance;
    const double by_chance = 3.0 / std::sqrt(count);
    const bool same_power = std::abs(expected - power) <= (0.1 + by_chance) * power;
    const bool same_scale = corrected.gain >= 0.25 * measured.gain && corrected.gain <= 4.0 * measured.gain;
    return same_power && same_scale ? corrected : measured;
}

}  // namespace

namespace detail {

void check_config(const SymbolMeterConfig& config) {
    check_enum("modulation", config.modulation, all_modulations.back());
    if (!(config.gain >= 0x1p-40F && config.gain <= 0x1p40F))
        throw ArgumentError("gain " + number_text(config.gain) + ": expected a number from 2^-40 to 2^40");
    const float full_scale = config.full_scale.value_for(SampleFormat::ci16);
    if (full_scale < 0x1p-80F || full_scale > 0x1p80F)
        throw ArgumentError("full_scale " + number_text(full_scale) +
                            ": expected a number from 2^-80 to 2^80");
}

SymbolScale symbol_scale(const SymbolMeterConfig& config, SampleFormat format) {
    const double points = 0.5 / axis_unit(config.modulation);
    const double per_step = points / (full_scale_of(config, format) * double{config.gain});
    const std::size_t bits = bits_per_axis(config.modulation);
    return {.per_step = static_cast<float>(per_step),
            .per_point = static_cast<float>(points),
            .last_step = static_cast<float>((1 << (bits - 1)) - 1),
            .usable_power = static_cast<float>(
                std::min(double{largest_power}, double{largest_power} / (per_step * per_step))),
            .bias = bits_per_symbol(config.modulation) == 1
                        ? 0.0F
                        : decision_bias_slope * (1.0F - 1.0F / static_cast<float>(1 << bits)),
            .diagonal = bits_per_symbol(config.modulation) == 1,
            .rotating = config.modulation == Modulation::pi2_bpsk};
}

double mean_power(const SymbolSums& sums, const SymbolMeterConfig& config, SampleFormat format) {
    return mean_power_of(sums, full_scale_of(config, format));
}

void check_rows(std::size_t symbols, std::size_t row, std::size_t sums) {
    if (row == 0) throw ArgumentError("row 0: expected rows of at least one symbol");
    check_size("sums", sums, pieces_of(symbols, row));
}

}  // namespace detail

SymbolMeasurement measurement_of(const SymbolSums& sums, const SymbolMeterConfig& config, SampleFormat format,
                                 SymbolReference reference) {
    detail::check_config(config);
    detail::check_enum("sample format", format, all_sample_formats.back());
    detail::check_enum("reference", reference, SymbolReference::sent);
    SymbolMeasurement result;
    result.symbols = sums.symbols;
    result.not_finite = sums.not_finite;
    set_powers(result, sums, full_scale_of(config, format));
    set_imbalance(result, sums, config.modulation);

    const auto count = static_cast<double>(sums.symbols);
    const double per_step = detail::symbol_scale(config, format).per_step;
    const double power = (sums.ii + sums.qq) * per_step * per_step;
    // w d*: its real part follows from |w - d|^2 = |w|^2 + |d|^2 - 2 Re w d*.
    const std::complex<double> correlation(0.5 * (power + sums.decided - sums.error),
                                           sums.rotated * per_step);
    const std::complex<double> gain = correlation / sums.decided;
    const double remainder = sums.error - std::norm(gain - 1.0) * sums.decided;
    const double left = remainder < 0.0 ? 0.0 : remainder;  // a NaN stays
    result.evm_rms = std::sqrt(left / (std::norm(gain) * sums.decided));
    result.evm_peak = std::sqrt(sums.error_peak / (sums.decided / count));
    result.mer_db = -decibels(result.evm_rms * result.evm_rms);

    const double step = 2.0 * axis_unit(config.modulation);
    GainAndNoise found = {.gain = std::sqrt(std::norm(gain)), .noise_variance = left / count * step * step};
    if (reference == SymbolReference::decisions)
        found =
            credible(correct_decisions(config.modulation, found), found, power / count * step * step, count);
    result.gain = double{config.gain} * found.gain;
    result.phase_deg = detail::elementary::angle_of(gain) * degrees;
    result.noise_variance = found.noise_variance;
    result.snr_db = decibels(found.gain * found.gain / found.noise_variance);
    return result;
}

std::optional<double> error_over_noise(const SymbolSums& sums) {
    if (!(sums.clear > 0.0)) return std::nullopt;
    return sums.clear_error / sums.expected_error;
}

std::optional<double> evm_limit(Modulation modulation, Transmitter transmitter) {
    detail::check_enum("transmitter", transmitter, Transmitter::ue);
    const bool is_ue = transmitter == Transmitter::ue;
    switch (modulation) {
        case Modulation::pi2_bpsk:
            return is_ue ? std::optional(0.3) : std::nullopt;
        case Modulation::qpsk:
            return 0.175;
        case Modulation::qam16:
            return 0.125;
        case Modulation::qam64:
            return 0.08;
        case Modulation::qam256:
            return 0.035;
        case Modulation::qam1024:
            return is_ue ? std::nullopt : std::optional(0.025);
        default:
            return std::nullopt;
    }
}

}  // namespace phy
