// One number at a time: the reference that every other backend is compared with.

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "phy/demapper/kernels.hpp"

namespace phy::detail {
namespace scalar {
namespace {

#define PHY_CORE_INLINE inline
#define PHY_CORE_UNROLL
#include "phy/demapper/core.inc"

struct Ops {
    using V = float;
    static V set(float x) { return x; }
    static V add(V a, V b) { return a + b; }
    static V sub(V a, V b) { return a - b; }
    static V mul(V a, V b) { return a * b; }
    static V div(V a, V b) { return a / b; }
    static V fma(V a, V b, V c) { return std::fma(a, b, c); }
    static V fms(V a, V b, V c) { return std::fma(a, b, -c); }
    static V nfma(V a, V b, V c) { return std::fma(-a, b, c); }
    static V min(V a, V b) { return a < b ? a : b; }
    static V max(V a, V b) { return a > b ? a : b; }
    static V abs(V a) { return std::fabs(a); }
    static V floor(V a) { return std::floor(a); }
    template <int m>
    static V segment(V a, V last) {
        return min(floor(mul(a, set(Axis<m>::inverse_segment))), last);
    }
    static V clamp(V x, V l) { return max(min(x, l), -l); }
    static V flip(V a, V s) { return std::signbit(s) ? -a : a; }
    static V keep(V x, V v) { return std::isfinite(x) ? v : 0.0F; }
    static V select_finite(V x, V a, V b) { return std::isfinite(x) ? a : b; }
    static V where_positive(V x, V v) { return x > 0.0F ? v : 0.0F; }
    static V reciprocal_seed(V a) {
        return std::bit_cast<float>(reciprocal_bits - std::bit_cast<std::int32_t>(a));
    }
    static V times_power_of_two(V a, V shifted) {
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) +
                                    (std::bit_cast<std::uint32_t>(shifted) << 23));
    }
    static V split_exponent(V a, V& fraction) {
        const auto bits = std::bit_cast<std::int32_t>(a);
        const std::int32_t exponent = (bits - square_root_of_half) >> 23;
        fraction = std::bit_cast<float>(bits - exponent * (1 << 23));
        return static_cast<float>(exponent);
    }
};

template <Output output>
void write(float scale, float distance, void* out, std::size_t index) {
    if constexpr (output == Output::int8) {
        const auto bits = std::bit_cast<std::uint32_t>(quantise<Ops>(scale, distance));
        static_cast<std::uint8_t*>(out)[index] = static_cast<std::uint8_t>(bits);
    } else if constexpr (output == Output::float32) {
        const float value = scaled<Ops>(scale, distance);
        std::memcpy(static_cast<std::byte*>(out) + index * sizeof value, &value, sizeof value);
    } else {
        static_cast<std::uint8_t*>(out)[index] = scale * distance < 0.0F ? 1 : 0;
    }
}

template <Grid grid, Output output, Law law, bool per_symbol>
void demap_block(const Block& block, void* out) {
    constexpr int bits = bits_of(grid);
    constexpr std::size_t axes = grid == Grid::bpsk ? 1 : 2;
    for (std::size_t s = 0; s < block.symbols; ++s) {
        const float scale = block.scale[per_symbol ? s : 0];
        const float limit = block.limit[per_symbol ? s : 0];
        const float* iq = block.iq + 2 * s;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            float distances[bits];
            float out_scale;
            if constexpr (grid == Grid::bpsk) {
                const bool turned = block.rotating && ((s + block.phase) & 1) != 0;
                evaluate_diagonal<Ops, law>(turned ? -iq[0] : iq[0], iq[1], scale, limit, distances,
                                            out_scale);
            } else {
                evaluate_axis<Ops, bits, law>(iq[axis], scale, limit, block.nats, distances, out_scale);
            }
            for (std::size_t k = 0; k < bits; ++k) {
                write<output>(out_scale, distances[k], out, (s * bits + k) * axes + axis);
            }
        }
    }
}

template <typename T>
T load(const void* in, std::size_t index) {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(in) + index * sizeof value, sizeof value);
    return value;
}

void widen_f16(const void* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<float>(load<half>(in, i));
}

void widen_i16(const void* in, float* out, std::size_t count, float unit) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<float>(load<std::int16_t>(in, i)) * unit;
}

void widen_i8(const void* in, float* out, std::size_t count, float unit) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<float>(load<std::int8_t>(in, i)) * unit;
}

void narrow_f16(const float* in, void* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const half rounded(in[i]);
        std::memcpy(static_cast<std::byte*>(out) + i * sizeof rounded, &rounded, sizeof rounded);
    }
}

bool is_usable(float noise) {
    return noise > 0.0F && std::isfinite(noise);
}

float gains(const float* noise, std::size_t symbols, const GainLaw& law, float* scale, float* limit) {
    float largest = 0.0F;
    for (std::size_t s = 0; s < symbols; ++s) {
        Gain gain{};
        if (is_usable(noise[s])) gain_of<Ops>(noise[s], law, gain.scale, gain.limit);
        scale[s] = gain.scale;
        limit[s] = gain.limit;
        largest = Ops::max(gain.limit, largest);
    }
    return largest;
}

std::uint64_t count_magnitude_i8(const void* llr, std::size_t count, int magnitude) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; ++i)
        found += std::abs(load<std::int8_t>(llr, i)) == magnitude ? 1 : 0;
    return found;
}

std::uint64_t count_magnitude_f16(const void* llr, std::size_t count, std::uint16_t magnitude) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; ++i)
        found += (load<std::uint16_t>(llr, i) & 0x7FFF) == magnitude ? 1 : 0;
    return found;
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

void stream(const std::byte* in, std::byte* out, std::size_t bytes) {
    std::memcpy(out, in, bytes);
}

bool streams(Grid, Output) {
    return false;
}

void finish_streams() {}

std::uint64_t count_not_finite(const float* components, std::size_t count) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; ++i)
        found += std::isfinite(components[i]) ? 0 : 1;
    return found;
}

#include "phy/demapper/kernel_table.inc"

constinit const Kernels kernels = make_kernels("");

}  // namespace
}  // namespace scalar

const Kernels& scalar_kernels() {
    return scalar::kernels;
}

}  // namespace phy::detail
