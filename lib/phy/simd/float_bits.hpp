#pragma once

#include <cstdint>

/// Numbers that arithmetic on the bits of a binary32 needs, whatever computes it.
namespace phy::detail {

/// Bits of the binary32 below which split_exponent takes the next lower exponent: sqrt(1/2).
inline constexpr std::int32_t square_root_of_half = 0x3F3504F3;

/// Less the bits of a positive binary32: those of its reciprocal, roughly.
inline constexpr std::int32_t reciprocal_bits = 0x7EF127EA;

/// Adding this rounds to an integer, half to even, and leaves the integer in the low bits of the sum.
inline constexpr float round_to_integer = 0x1.8p23F;

}  // namespace phy::detail
