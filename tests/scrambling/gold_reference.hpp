#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// c(n) of TS 38.211 clause 5.2.1, independent of the library.
namespace phy_test {

/// c(0) ... c(count - 1), one per byte, bit by bit from the three equations of the clause.
inline std::vector<std::uint8_t> gold_reference(std::uint32_t c_init, std::size_t count) {
    constexpr std::size_t n_c = 1600;
    std::vector<std::uint8_t> x1(n_c + count + 31);
    std::vector<std::uint8_t> x2(n_c + count + 31);
    x1[0] = 1;
    for (std::size_t i = 0; i < 31; ++i)
        x2[i] = c_init >> i & 1U;
    for (std::size_t n = 0; n < n_c + count; ++n) {
        x1[n + 31] = static_cast<std::uint8_t>((x1[n + 3] + x1[n]) % 2);
        x2[n + 31] = static_cast<std::uint8_t>((x2[n + 3] + x2[n + 2] + x2[n + 1] + x2[n]) % 2);
    }
    std::vector<std::uint8_t> c(count);
    for (std::size_t n = 0; n < count; ++n)
        c[n] = static_cast<std::uint8_t>((x1[n + n_c] + x2[n + n_c]) % 2);
    return c;
}

/// One step of a register of 31 bits as a matrix modulo 2, and its powers by squaring.
class StepMatrix {
public:
    using Bits = std::array<int, 31>;

    /// taps: the n of x(n) whose sum is x(31).
    explicit StepMatrix(const std::vector<int>& taps) {
        for (std::size_t row = 0; row < 30; ++row)
            entries_[row][row + 1] = 1;
        for (const int tap : taps)
            entries_[30][static_cast<std::size_t>(tap)] = 1;
    }

    [[nodiscard]] Bits after(std::uint64_t steps, Bits state) const {
        for (StepMatrix power = *this; steps > 0; steps /= 2, power = power.squared())
            if (steps % 2 == 1) state = power.times(state);
        return state;
    }

private:
    [[nodiscard]] Bits times(const Bits& state) const {
        Bits result{};
        for (std::size_t row = 0; row < 31; ++row)
            for (std::size_t column = 0; column < 31; ++column)
                result[row] ^= entries_[row][column] & state[column];
        return result;
    }

    [[nodiscard]] StepMatrix squared() const {
        StepMatrix result = *this;
        for (std::size_t row = 0; row < 31; ++row) {
            for (std::size_t column = 0; column < 31; ++column) {
                int sum = 0;
                for (std::size_t k = 0; k < 31; ++k)
                    sum ^= entries_[row][k] & entries_[k][column];
                result.entries_[row][column] = sum;
            }
        }
        return result;
    }

    std::array<Bits, 31> entries_{};
};

/// c(first) ... c(first + 30), for first + 1600 below 2^64.
inline std::vector<std::uint8_t> far_gold_reference(std::uint32_t c_init, std::uint64_t first) {
    StepMatrix::Bits x1{1};
    StepMatrix::Bits x2{};
    for (std::size_t i = 0; i < 31; ++i)
        x2[i] = static_cast<int>(c_init >> i & 1U);
    x1 = StepMatrix({3, 0}).after(first + 1600, x1);
    x2 = StepMatrix({3, 2, 1, 0}).after(first + 1600, x2);
    std::vector<std::uint8_t> c(31);
    for (std::size_t i = 0; i < 31; ++i)
        c[i] = static_cast<std::uint8_t>(x1[i] ^ x2[i]);
    return c;
}

}  // namespace phy_test
