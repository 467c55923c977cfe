// One number at a time: the reference for all other backends.

#include "phy/demapper/host/kernels.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/ops-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

template <Output output>
void write(float scale, float distance, void* out, std::size_t index) {
    if constexpr (output == Output::int8) {
        const auto bits = std::bit_cast<std::uint32_t>(quantise<Ops>(scale, distance));
        static_cast<std::uint8_t*>(out)[index] = static_cast<std::uint8_t>(bits);
    } else {
        const float value = scaled<Ops>(scale, distance);
        std::memcpy(static_cast<std::byte*>(out) + index * sizeof value, &value, sizeof value);
    }
}

template <Constellation constellation, Output output, Formula formula, bool per_symbol>
void demap_block(const Block& block, void* out) {
    constexpr int bits = bits_of(constellation);
    constexpr std::size_t axes = constellation == Constellation::bpsk ? 1 : 2;
    for (std::size_t s = 0; s < block.symbols; ++s) {
        const float scale = block.scale[per_symbol ? s : 0];
        const float limit = block.limit[per_symbol ? s : 0];
        const float* iq = block.iq + 2 * s;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            float distances[bits];
            float out_scale;
            if constexpr (constellation == Constellation::bpsk) {
                const bool turned = block.rotating && ((s + static_cast<std::size_t>(block.phase)) & 1) != 0;
                evaluate_diagonal<Ops, formula>(turned ? -iq[0] : iq[0], iq[1], scale, limit, distances,
                                                out_scale);
            } else {
                evaluate_axis<Ops, bits, formula>(iq[axis], scale, limit, block.nats, distances, out_scale);
            }
            for (std::size_t k = 0; k < bits; ++k) {
                write<output>(out_scale, distances[k], out, (s * bits + k) * axes + axis);
            }
        }
    }
}

void multiply(const float* in, float* out, std::size_t count, float factor) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = in[i] * factor;
}

bool is_usable(float noise) {
    return noise > 0.0F && std::isfinite(noise);
}

float gains(const float* noise, std::size_t symbols, const GainRule& rule, float* scale, float* limit) {
    float largest = 0.0F;
    for (std::size_t s = 0; s < symbols; ++s) {
        Gain gain{};
        if (is_usable(noise[s])) gain_of<Ops>(noise[s], rule, gain.scale, gain.limit);
        scale[s] = gain.scale;
        limit[s] = gain.limit;
        largest = Ops::max(gain.limit, largest);
    }
    return largest;
}

std::uint64_t count_unusable(const float* noise, std::size_t count) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; ++i)
        found += is_usable(noise[i]) ? 0 : 1;
    return found;
}

void nearest_entries(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry) {
    for (std::size_t i = 0; i < count; ++i) {
        const float position = nearest_entry<Ops>(iq[i], table);
        entry[i] = std::bit_cast<std::uint32_t>(position) & entry_bits;
    }
}

void entries_below(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry,
                   float* fraction) {
    for (std::size_t i = 0; i < count; ++i) {
        const float position = entry_below<Ops>(iq[i], table, fraction[i]);
        entry[i] = std::bit_cast<std::uint32_t>(position) & entry_bits;
    }
}

bool streams(Constellation, Output) {
    return false;
}

#include "phy/demapper/host/kernel_table.inc"

}  // namespace
}  // namespace scalar

constinit const DemapKernels scalar_demap_kernels = scalar::make_demap_kernels();

}  // namespace phy::detail
