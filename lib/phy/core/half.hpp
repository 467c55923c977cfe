#pragma once

#include <bit>
#include <cstdint>

#include "phy/core/export.hpp"

namespace phy {

/// IEEE 754 binary16: float16 of HDF5 and NumPy, __half of CUDA. For storage only; arithmetic uses float.
struct PHY_EXPORT half {
    std::uint16_t bits = 0;

    half() = default;

    /// Rounds to nearest, ties to even. Magnitudes from 65520 on become infinite. A NaN stays a NaN.
    constexpr explicit half(float value) : bits(from_float(value)) {}

    /// Exact.
    constexpr explicit operator float() const { return to_float(bits); }

    friend constexpr bool operator==(half, half) = default;

private:
    static constexpr std::uint16_t from_float(float value) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000U);
        const std::uint32_t magnitude = word & 0x7FFFFFFFU;
        constexpr std::uint32_t infinity = 0x7F800000U;
        constexpr std::uint32_t first_infinite = 0x477FF000U;  // 65520, half way from 65504 to 65536
        constexpr std::uint32_t first_normal = 0x38800000U;    // 2^-14
        if (magnitude > infinity) return static_cast<std::uint16_t>(sign | 0x7E00U);
        if (magnitude >= first_infinite) return static_cast<std::uint16_t>(sign | 0x7C00U);
        if (magnitude < first_normal) {
            // Adding 0.5 makes the float adder round to a multiple of 2^-24, the unit of binary16 subnormals.
            const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
            return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) & 0x7FFU));
        }
        const std::uint32_t odd = (magnitude >> 13) & 1U;
        const std::uint32_t rounded = magnitude + 0xFFFU + odd - (112U << 23);
        return static_cast<std::uint16_t>(sign | (rounded >> 13));
    }

    static constexpr float to_float(std::uint16_t bits) {
        const std::uint32_t sign = (bits & 0x8000U) << 16;
        const std::uint32_t exponent = (bits >> 10) & 0x1FU;
        const std::uint32_t mantissa = bits & 0x3FFU;
        if (exponent == 0) {
            const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
            return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
        }
        const std::uint32_t biased = exponent == 31 ? 255U : exponent + 112U;
        return std::bit_cast<float>(sign | (biased << 23) | (mantissa << 13));
    }
};

}  // namespace phy
