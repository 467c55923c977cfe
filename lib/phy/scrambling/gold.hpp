#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "phy/core/error.hpp"
#include "phy/scrambling/gold_sequence.hpp"

/// The two m-sequences of TS 38.211 clause 5.2.1. Each is a register of its next 31 bits, bit 0 first.
///
/// x(n + k) is the sum of those of x(n) ... x(n + 30) whose powers of X are in X^k modulo the characteristic
/// polynomial P. So a jump takes one squaring per binary digit of k. Since P(X)^2 = P(X^2), the recurrence of
/// bits also holds for every second bit, every fourth, and so for words of 32.
namespace phy::detail {

inline constexpr std::uint32_t register_mask = 0x7FFFFFFF;
inline constexpr std::uint64_t gold_period =
    0x7FFFFFFF;                                      ///< of both sequences: their polynomials are primitive
inline constexpr std::uint64_t gold_skipped = 1600;  ///< N_C

/// Words that the recurrence of c looks back: the product of both polynomials has degree 62.
inline constexpr std::size_t gold_history = 62;

/// X^31 + X^3 + 1.
struct FirstSequence {
    static constexpr std::uint32_t start = 1;

    /// The sum of a bit and those that P combines with it, `spacing` bits apart.
    template <int spacing = 1>
    static constexpr std::uint64_t combined(std::uint64_t bits) {
        return bits ^ bits >> (3 * spacing);
    }

    /// The product with P - X^31.
    static constexpr std::uint64_t folded(std::uint64_t polynomial) { return polynomial ^ polynomial << 3; }
};

/// X^31 + X^3 + X^2 + X + 1.
struct SecondSequence {
    template <int spacing = 1>
    static constexpr std::uint64_t combined(std::uint64_t bits) {
        return bits ^ bits >> spacing ^ bits >> (2 * spacing) ^ bits >> (3 * spacing);
    }

    static constexpr std::uint64_t folded(std::uint64_t polynomial) {
        return polynomial ^ polynomial << 1 ^ polynomial << 2 ^ polynomial << 3;
    }
};

/// The next 62 bits.
template <class Sequence>
constexpr std::uint64_t extended(std::uint32_t state) {
    std::uint64_t bits = state;
    bits |= (Sequence::combined(bits) & 0xFFFFFFF) << 31;
    return bits | (Sequence::combined(bits >> 28) & 0x7) << 59;
}

/// Advances 62 bits by 32.
template <class Sequence>
constexpr std::uint64_t next_word(std::uint64_t bits) {
    return bits >> 32 | (Sequence::template combined<2>(bits) & 0xFFFFFFFF) << 30;
}

/// The state k steps after a state, where polynomial = X^k modulo P.
template <class Sequence>
constexpr std::uint32_t advanced(std::uint32_t state, std::uint32_t polynomial) {
    const std::uint64_t bits = extended<Sequence>(state);
    std::uint32_t sum = 0;
    for (int power = 0; power < 31; ++power)
        sum ^= static_cast<std::uint32_t>(bits >> power) & (0U - (polynomial >> power & 1U));
    return sum & register_mask;
}

/// A polynomial of degree 61 or less, modulo P.
template <class Sequence>
constexpr std::uint32_t reduced(std::uint64_t polynomial) {
    polynomial = (polynomial & register_mask) ^ Sequence::folded(polynomial >> 31);
    polynomial = (polynomial & register_mask) ^ Sequence::folded(polynomial >> 31);
    return static_cast<std::uint32_t>(polynomial);
}

/// Squaring doubles the powers of all terms.
constexpr std::uint64_t squared(std::uint32_t polynomial) {
    std::uint64_t spread = polynomial;
    spread = (spread | spread << 16) & 0x0000FFFF0000FFFF;
    spread = (spread | spread << 8) & 0x00FF00FF00FF00FF;
    spread = (spread | spread << 4) & 0x0F0F0F0F0F0F0F0F;
    spread = (spread | spread << 2) & 0x3333333333333333;
    return (spread | spread << 1) & 0x5555555555555555;
}

/// X^steps modulo P.
template <class Sequence>
constexpr std::uint32_t power_of_x(std::uint64_t steps) {
    steps %= gold_period;
    int rest = 0;
    while (steps >> rest >= 31)
        ++rest;
    std::uint32_t power = 1U << (steps >> rest);
    while (rest-- > 0)
        power = reduced<Sequence>(squared(power) << (steps >> rest & 1));
    return power;
}

/// Steps of the registers from their start to c(index).
constexpr std::uint64_t steps_to(std::uint64_t index) {
    return (index % gold_period + gold_skipped) % gold_period;
}

/// Returns words of c, one after another.
class GoldRegisters {
public:
    /// steps counts from the start of the registers, including the bits before c(0).
    constexpr GoldRegisters(std::uint32_t c_init, std::uint64_t steps)
        : first_(extended<FirstSequence>(
              advanced<FirstSequence>(FirstSequence::start, power_of_x<FirstSequence>(steps)))),
          second_(
              extended<SecondSequence>(advanced<SecondSequence>(c_init, power_of_x<SecondSequence>(steps)))) {
    }

    constexpr std::uint32_t next() {
        const auto word = static_cast<std::uint32_t>(first_ ^ second_);
        first_ = next_word<FirstSequence>(first_);
        second_ = next_word<SecondSequence>(second_);
        return word;
    }

private:
    std::uint64_t first_;
    std::uint64_t second_;
};

/// The loops of a host.
struct ScramblingKernels {
    /// Writes `count` words of c after the `before` words that stand in front of `words`. before is at least
    /// 62.
    void (*follow)(std::uint32_t* words, std::size_t before, std::size_t count);

    /// Adds bits of c, as in ArrayKernels::flip, to the lowest bits of bytes; in and out may be the same
    /// array.
    void (*scramble)(const std::uint8_t* in, std::uint8_t* out, std::size_t count, const std::uint32_t* c);
};

inline void check_c_init(std::uint32_t c_init) {
    if (c_init > largest_c_init)
        throw ArgumentError("c_init " + std::to_string(c_init) + ": expected at most 31 bits");
}

/// Throws ArgumentError unless `size` elements are the same number for each codeword.
inline void check_codewords(const char* what, std::size_t size, std::size_t codewords) {
    const bool fits = codewords == 0 ? size == 0 : size % codewords == 0;
    if (!fits)
        throw ArgumentError(std::string(what) + " has " + std::to_string(size) +
                            " elements: expected the same number for each of " + std::to_string(codewords) +
                            " codewords");
}

}  // namespace phy::detail
