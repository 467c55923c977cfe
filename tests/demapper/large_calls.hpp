#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "demapper/awkward_symbols.hpp"
#include "demapper/table_cases.hpp"
#include "support/fewer_cases.hpp"

namespace phy_test {

/// A call whose bytes or soft bits exceed 32-bit numbers.
struct LargeCall {
    const char* name;
    phy::DemapperConfig config;
    phy::SampleFormat in;
    phy::SoftBitFormat out;
    NoiseKind noise;
    int log2_symbols;
    std::uint64_t first_symbol = 0;
    std::optional<TableRoom> table = {};  ///< where its table fits, if it uses one

    [[nodiscard]] std::size_t symbols() const {
        return std::size_t{1} << (takes_fewer_cases() ? std::min(log2_symbols, 18) : log2_symbols);
    }
    [[nodiscard]] std::size_t symbol_bytes() const {
        return bits_per_symbol(config.modulation) * size_of(out);
    }
};

inline constexpr std::uint64_t large_odd_number = (std::uint64_t{1} << 50) + 1;
inline constexpr NoiseKind small_noise = {false, 0.003F};
inline constexpr NoiseKind noise_of_each = {true, 0.0F};

inline const LargeCall large_calls[] = {
    {"2_28_of_256qam",
     {.modulation = phy::Modulation::qam256},
     phy::SampleFormat::cf32,
     phy::SoftBitFormat::int8,
     small_noise,
     28},
    {"5_gib_of_1024qam",
     {.modulation = phy::Modulation::qam1024},
     phy::SampleFormat::ci8,
     phy::SoftBitFormat::float32,
     small_noise,
     27},
    {"pi2bpsk",
     {.modulation = phy::Modulation::pi2_bpsk},
     phy::SampleFormat::ci16,
     phy::SoftBitFormat::int8,
     noise_of_each,
     26,
     large_odd_number},
    {"64qam_to_halves",
     {.modulation = phy::Modulation::qam64},
     phy::SampleFormat::cf16,
     phy::SoftBitFormat::float16,
     noise_of_each,
     25},
    // Enough symbols that blocks with a table loop several times.
    {"16qam_by_table",
     {.modulation = phy::Modulation::qam16,
      .llr = {.method = phy::Method::log_map, .evaluator = phy::Evaluator::table}},
     phy::SampleFormat::cf16,
     phy::SoftBitFormat::int8,
     {false, 0.05F},
     28,
     0,
     TableRoom::several_blocks},
    {"256qam_by_large_table",
     {.modulation = phy::Modulation::qam256,
      .llr = {.method = phy::Method::log_map, .evaluator = phy::Evaluator::table}},
     phy::SampleFormat::cf32,
     phy::SoftBitFormat::float16,
     {false, 0.0026F},
     26,
     0,
     TableRoom::one_block},
    {"64qam_by_sums",
     {.modulation = phy::Modulation::qam64, .llr = {.method = phy::Method::log_map}},
     phy::SampleFormat::cf32,
     phy::SoftBitFormat::int8,
     noise_of_each,
     22},
};

}  // namespace phy_test
