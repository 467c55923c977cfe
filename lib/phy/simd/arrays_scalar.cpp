// One number at a time: the reference for every instruction set.

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "phy/simd/arrays.hpp"

namespace phy::detail {
namespace {

template <typename T>
T load(const void* in, std::size_t index) {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(in) + index * sizeof value, sizeof value);
    return value;
}

template <typename Component>
void widen(const void* in, float* out, std::size_t count, float unit) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<float>(load<Component>(in, i));
        if constexpr (std::is_integral_v<Component>) out[i] *= unit;
    }
}

template <typename SoftBit>
void narrow(const float* in, void* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const SoftBit rounded(in[i]);
        std::memcpy(static_cast<std::byte*>(out) + i * sizeof rounded, &rounded, sizeof rounded);
    }
}

/// Floating point numbers, NaNs included, change their sign bit only.
template <typename SoftBit>
SoftBit negated(SoftBit soft_bit) {
    if constexpr (std::is_integral_v<SoftBit>) {
        return static_cast<SoftBit>(soft_bit == std::numeric_limits<SoftBit>::min() ? -(soft_bit + 1)
                                                                                    : -soft_bit);
    } else {
        using Bits = std::conditional_t<sizeof(SoftBit) == 2, std::uint16_t, std::uint32_t>;
        constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
        return std::bit_cast<SoftBit>(static_cast<Bits>(std::bit_cast<Bits>(soft_bit) ^ sign));
    }
}

template <typename SoftBit>
void flip(const void* in, void* out, std::size_t count, const std::uint32_t* signs) {
    for (std::size_t i = 0; i < count; ++i) {
        auto soft_bit = load<SoftBit>(in, i);
        if ((signs[i / 32] >> (i % 32) & 1) != 0) soft_bit = negated(soft_bit);
        std::memcpy(static_cast<std::byte*>(out) + i * sizeof soft_bit, &soft_bit, sizeof soft_bit);
    }
}

template <typename SoftBit>
std::uint64_t count_magnitude(const void* soft_bits, std::size_t count, unsigned magnitude) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<SoftBit>) {
            found += static_cast<unsigned>(std::abs(load<SoftBit>(soft_bits, i))) == magnitude ? 1 : 0;
        } else {
            found += (load<std::uint16_t>(soft_bits, i) & 0x7FFFU) == magnitude ? 1 : 0;
        }
    }
    return found;
}

std::uint64_t count_not_finite(const float* components, std::size_t count) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; ++i)
        found += std::isfinite(components[i]) ? 0 : 1;
    return found;
}

void stream(const std::byte* in, std::byte* out, std::size_t bytes) {
    std::memcpy(out, in, bytes);
}

void finish_streams() {}

#include "phy/simd/array_tables.inc"

}  // namespace

constinit const ArrayKernels scalar_array_kernels = make_array_kernels();

}  // namespace phy::detail
