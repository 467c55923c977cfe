#pragma once

#include <cstdint>

/// Constants for arithmetic on the bits of binary32 numbers, on every backend.
namespace phy::detail {

/// Bits of sqrt(1/2): split_exponent() chooses the exponent so that the fraction is at least this.
inline constexpr std::int32_t square_root_of_half = 0x3F3504F3;

/// This minus the bits of a positive binary32 number approximates the bits of its reciprocal.
inline constexpr std::int32_t reciprocal_bits = 0x7EF127EA;

/// Adding this rounds to an integer, half to even. The low bits of the sum hold the integer.
inline constexpr float round_to_integer = 0x1.8p23F;

}  // namespace phy::detail
