#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>

#include "digests/outputs.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/mapper/mapper.hpp"

/// What outputs.cpp and outputs_cuda.cpp share: from names to phy's types.
namespace phy_test {

/// For the configuration of any demapper, which have these members in common.
template <typename Config>
Config soft_config(const SoftCall& call) {
    Config config;
    config.method = phy::parse_method(call.method);
    config.evaluator = phy::parse_evaluator(call.evaluator);
    config.llr_scale = call.llr_scale;
    config.llr_clip = call.llr_clip;
    config.full_scale = call.full_scale;
    return config;
}

/// For those of one modulation.
template <typename Config>
Config modulated_config(const SoftCall& call) {
    auto config = soft_config<Config>(call);
    config.modulation = phy::parse_modulation(call.modulation);
    return config;
}

inline phy::Mapper::Config map_config(const MapCall& call) {
    return {.modulation = phy::parse_modulation(call.modulation),
            .packing = call.packed ? phy::BitPacking::packed : phy::BitPacking::one_per_byte};
}

/// As many bytes of bits as so many symbols take.
inline std::size_t map_bytes(const MapCall& call, std::size_t symbols) {
    const std::size_t bits = symbols * bits_per_symbol(phy::parse_modulation(call.modulation));
    return call.packed ? (bits + 7) / 8 : bits;
}

inline phy::SymbolView symbols_at(const SoftCall& call, const std::byte* samples, std::size_t symbols) {
    return {phy::parse_sample_format(call.input), samples, symbols};
}

inline phy::NoiseVariance noise_at(const SoftCall& call, std::span<const float> of_each) {
    return call.noise ? phy::NoiseVariance(*call.noise) : phy::NoiseVariance(of_each);
}

/// Soft bits of a call; their bytes, too.
inline std::size_t soft_bit_count(const SoftCall& call, std::size_t symbols) {
    return symbols * bits_per_symbol(phy::parse_modulation(call.modulation));
}
inline std::size_t soft_bit_bytes(const SoftCall& call, std::size_t symbols) {
    return soft_bit_count(call, symbols) * size_of(phy::parse_soft_bit_format(call.output));
}
inline phy::SoftBitSpan soft_bits_at(const SoftCall& call, std::byte* memory, std::size_t symbols) {
    return {phy::parse_soft_bit_format(call.output), memory, soft_bit_count(call, symbols)};
}

/// The soft bits, and after them the counters.
inline Bytes counted_output(const Bytes& plain, Bytes counted, const phy::DemapCounters& counters) {
    if (plain != counted) throw std::runtime_error("a call that counts gives other soft bits");
    for (std::uint64_t count : {counters.erasures, counters.saturated})
        for (int n = 0; n < 8; ++n, count >>= 8)
            counted.push_back(static_cast<std::byte>(count & 0xFFU));
    return counted;
}

}  // namespace phy_test
