#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "demapper/signals.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/scrambling/gold_sequence.hpp"
#include "scrambling/scrambling_cases.hpp"

/// Demapper calls that also descramble.
namespace phy_test {

struct FusedCase {
    phy::Modulation modulation;
    phy::Method method;
    phy::Evaluator evaluator;
    bool per_symbol_noise;
};

inline std::string name_of(const FusedCase& fused) {
    return std::string(to_string(fused.modulation)) + ", " + std::string(to_string(fused.method)) + ", " +
           std::string(to_string(fused.evaluator)) + (fused.per_symbol_noise ? ", noise by symbol" : "");
}

inline std::vector<FusedCase> fused_cases() {
    using phy::Evaluator;
    std::vector<FusedCase> cases;
    for (const phy::Modulation modulation : phy::all_modulations) {
        cases.push_back({modulation, phy::Method::max_log, Evaluator::arithmetic, false});
        cases.push_back({modulation, phy::Method::max_log, Evaluator::arithmetic, true});
        cases.push_back({modulation, phy::Method::log_map, Evaluator::arithmetic, false});
        cases.push_back({modulation, phy::Method::log_map, Evaluator::table, false});
    }
    return cases;
}

inline phy::DemapperConfig config_of(const FusedCase& fused) {
    return {.modulation = fused.modulation, .llr = {.method = fused.method, .evaluator = fused.evaluator}};
}

/// Symbols with noise; a few are not finite.
inline std::vector<phy::cf32> fused_symbols(phy::Modulation modulation, std::size_t count) {
    std::vector<phy::cf32> symbols = NoisySymbols(modulation, 12.0, scrambling_seed).take(count);
    for (std::size_t i = 100; i < count; i += 1000)
        symbols[i] = {std::numeric_limits<float>::quiet_NaN(), 0.5F};
    return symbols;
}

inline constexpr std::uint32_t fused_c_init = 1'234'567'890;

/// Soft bits that are negated where the sequence is 1.
inline std::vector<std::byte> expected_descrambled(phy::SoftBitFormat format, std::vector<std::byte> llr) {
    static std::vector<std::uint8_t> c;
    const std::size_t count = llr.size() / size_of(format);
    if (c.size() < count) c = gold_reference(fused_c_init, count);
    return expected_descrambled(format, std::move(llr), c);
}

/// The words of the sequence for this number of soft bits.
inline std::vector<std::uint32_t> fused_signs(std::size_t soft_bits) {
    std::vector<std::uint32_t> words((soft_bits + 31) / 32);
    phy::gold_sequence(fused_c_init, 0, words);
    return words;
}

}  // namespace phy_test
