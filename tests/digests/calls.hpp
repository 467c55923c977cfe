#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "digests/outputs.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/pipeline/place.hpp"

/// Shared by outputs.cpp and outputs_cuda.cpp: converts names to phy's types.
namespace phy_test {

inline phy::BatchDemapperConfig batch_config(const SoftCall& call) {
    return {.llr = {.method = phy::parse_method(call.method),
                    .evaluator = phy::parse_evaluator(call.evaluator),
                    .scale = call.llr_scale,
                    .clip = call.llr_clip},
            .full_scale = call.full_scale ? phy::FullScale(*call.full_scale) : phy::FullScale(),
            .gain = call.gain};
}

inline phy::DemapperConfig modulated_config(const SoftCall& call) {
    const phy::BatchDemapperConfig config = batch_config(call);
    return {.modulation = phy::parse_modulation(call.modulation),
            .llr = config.llr,
            .full_scale = config.full_scale,
            .gain = config.gain};
}

inline phy::Mapper::Config map_config(const MapCall& call) {
    return {.modulation = phy::parse_modulation(call.modulation),
            .packing = call.packed ? phy::BitPacking::packed : phy::BitPacking::one_per_byte,
            .full_scale = 8192.0F};
}

/// Bytes of bits for this number of symbols.
inline std::size_t map_bytes(const MapCall& call, std::size_t symbols) {
    const std::size_t bits = symbols * bits_per_symbol(phy::parse_modulation(call.modulation));
    return call.packed ? (bits + 7) / 8 : bits;
}

/// The number of soft bits of a call, and of their bytes.
inline std::size_t soft_bit_count(const SoftCall& call, std::size_t symbols) {
    return symbols * bits_per_symbol(phy::parse_modulation(call.modulation));
}
inline std::size_t soft_bit_bytes(const SoftCall& call, std::size_t symbols) {
    return soft_bit_count(call, symbols) * size_of(phy::parse_soft_bit_format(call.output));
}

/// The soft bits, then the counters.
inline Bytes counted_output(const Bytes& plain, Bytes counted, const phy::DemapCounters& counters) {
    if (plain != counted) throw std::runtime_error("a call that counts gives other soft bits");
    for (std::uint64_t count : {counters.erasures, counters.saturated})
        for (int n = 0; n < 8; ++n, count >>= 8)
            counted.push_back(static_cast<std::byte>(count & 0xFFU));
    return counted;
}

/// Outputs::stage() on a place.
Bytes stage_on(const phy::Place& place, const SoftCall& call, const Signal& signal);

}  // namespace phy_test
