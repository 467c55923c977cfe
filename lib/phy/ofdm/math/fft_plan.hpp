#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// How a transform is split into passes, for every backend.
namespace phy::detail {

/// True if a positive number has no prime factors above 5.
bool has_small_factors(std::size_t number);

inline constexpr std::size_t largest_fft = 8192;
inline constexpr std::size_t max_fft_passes = 8;

/// The layout of factors in memory.
enum class FactorOrder {
    pairs,    ///< (groups, radix - 1, 2): for vectors of transforms side by side
    vectors,  ///< the same from the second pass on, with factors side by side for the first two passes. For
              ///< multiples of 128 points these have radix 8, then 8 or 4, so later strides are whole vectors
    threads,  ///< (radix - 1, groups, 2): for threads that do neighbouring groups
};

/// Groups of the first and the second pass whose factors lie side by side, for vectors that hold as many
/// groups.
inline constexpr std::uint32_t first_together = 16;
inline constexpr std::uint32_t second_together = 2;

/// 2^32 / number, rounded up, for numbers above 1: the upper half of its product with n below 2^16 is n /
/// number.
constexpr std::uint32_t reciprocal_of(std::uint32_t number) {
    return static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + number - 1) / number);
}

/// One pass of a transform of N points, decimation in frequency with outputs in order (Stockham): for q below
/// stride and p below groups, it takes the DFT of the inputs at q + stride (p + groups k), k from 0 to radix
/// - 1, and writes output k times exp(-j 2 pi p k / (groups radix)) to q + stride (radix p + k). In the last
/// pass groups is 1 and the factors are 1: the table has none.
struct FftPass {
    std::uint32_t radix = 0;
    std::uint32_t groups = 0;
    std::uint32_t stride = 0;
    std::uint32_t radix_reciprocal = 0;  ///< see reciprocal_of()
    std::uint32_t groups_reciprocal = 0;
    /// Index of its factors in the table, real parts before imaginary ones, in the plan's order.
    std::uint32_t factors = 0;
    /// Index of the same factors with those of n neighbouring groups side by side, if it has them: (groups /
    /// n, radix - 1, 2, n), real parts first.
    std::uint32_t side_by_side = 0;
};

/// A transform, as kernels need it.
struct Fft {
    std::uint32_t size = 0;
    std::uint32_t passes = 0;
    std::array<FftPass, max_fft_passes> pass{};
    const float* table = nullptr;
};

/// Radices and factors of a transform of N points, 4 x a number without prime factors above 5: 8 as often as
/// a power of 4 is left of the power of 2 in N, then 4, then 3, then 5.
class FftPlan {
public:
    FftPlan(std::size_t size, FactorOrder order);

    [[nodiscard]] const Fft& fft() const { return fft_; }
    [[nodiscard]] std::span<const float> table() const { return {fft_.table, table_.size()}; }
    FftPlan(const FftPlan&) = delete;  // fft() points into the lines
    FftPlan& operator=(const FftPlan&) = delete;

private:
    void add_pass(std::uint32_t radix);
    void add_factors(FftPass& pass, FactorOrder order);
    void add_side_by_side(FftPass& pass, std::uint32_t together);

    static constexpr std::size_t line_numbers = 16;
    struct alignas(64) Line {
        float numbers[line_numbers];
    };

    Fft fft_;
    std::vector<float> table_;
    std::vector<Line> lines_;  ///< the table, so that no vector of it crosses a cache line
};

}  // namespace phy::detail
