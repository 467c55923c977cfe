#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/constellation.hpp"
#include "phy/measure/symbol_sums.hpp"

/// What the kernels that sum over symbols are told, and the order of what they sum.
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
    sum_turned,
    summed_of_symbols
};

/// Symbols are used whose power is below this, both as they are stored and in distances of levels: so many
/// are added in a block that no sum overflows.
inline constexpr float largest_power = 0x1p116F;

struct SymbolScale {
    float per_step;      ///< from a stored component to the distances of levels, 2A
    float per_point;     ///< the same from points of unit mean power
    float last_step;     ///< levels of one sign, less 1
    float usable_power;  ///< stored: i^2 + q^2 is below it
    bool diagonal;       ///< BPSK
    bool rotating;       ///< pi/2-BPSK
};

/// Throws ArgumentError if a value is out of its range.
void check_config(const SymbolMeterConfig& config);

SymbolScale symbol_scale(const SymbolMeterConfig& config, SampleFormat format);

/// SymbolMeasurement::mean_power alone: measurement_of() looks for the noise behind decisions, too.
double mean_power(const SymbolSums& sums, const SymbolMeterConfig& config, SampleFormat format);

/// Rows of a call; throws ArgumentError unless there are as many sums.
std::size_t check_rows(std::size_t symbols, std::size_t row, std::size_t sums);

}  // namespace phy::detail
