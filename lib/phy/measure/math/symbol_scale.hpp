#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/constellation.hpp"
#include "phy/measure/symbol_sums.hpp"

/// The parameters of the kernels that sum over symbols, and the order of their sums.
namespace phy::detail {

/// In the order of the members of SymbolSums.
enum SummedOfSymbols : unsigned {
    sum_i,
    sum_q,
    sum_ii,
    sum_qq,
    sum_iq,
    sum_error,
    sum_decided,
    sum_rotated,
    summed_of_symbols,

    // With a noise variance per symbol.
    sum_clear = summed_of_symbols,
    sum_outer,
    sum_clear_error,
    sum_expected_error,
    summed_with_noise
};

/// Symbols are used if their power is below this, both as stored and in level distances. Then no sum over a
/// block overflows.
inline constexpr float largest_power = 0x1p116F;

/// Clear symbols have an N0 below this, in units of (2A)^2.
inline constexpr float max_clear_noise = 0.125F;

/// Limits of N0 / (2A)^2 as a divisor, and of a quotient.
inline constexpr float min_noise_divisor = 0x1p-100F;
inline constexpr float max_error_quotient = 0x1p20F;

/// Wrong decisions of a level with two neighbours make the mean square of its error smaller by
/// slope (N0 / (2A)^2 - offset)^2, of 1: fitted to the integral of the normal distribution.
inline constexpr float decision_bias_offset = 0.0315F;
inline constexpr float decision_bias_slope = 16.0F;

struct SymbolScale {
    float per_step;      ///< from a stored component to level distances, 2A
    float per_point;     ///< the same for points of unit mean power
    float last_step;     ///< levels of one sign, less 1
    float usable_power;  ///< limit of the stored i^2 + q^2
    float bias;          ///< decision_bias_slope times the mean share of neighbours that levels have
    bool diagonal;       ///< BPSK
    bool rotating;       ///< pi/2-BPSK
};

/// Throws ArgumentError if a value is out of its range.
void check_config(const SymbolMeterConfig& config);

SymbolScale symbol_scale(const SymbolMeterConfig& config, SampleFormat format);

/// SymbolMeasurement::mean_power alone; measurement_of() also solves for the noise behind decisions.
double mean_power(const SymbolSums& sums, const SymbolMeterConfig& config, SampleFormat format);

/// Throws ArgumentError unless there is one sum per row.
void check_rows(std::size_t symbols, std::size_t row, std::size_t sums);

}  // namespace phy::detail
