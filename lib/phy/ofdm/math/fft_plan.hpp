#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// How a transform is cut into passes, whatever computes it.
namespace phy::detail {

/// True if a positive number has no prime factors above 5.
bool has_small_factors(std::size_t number);

inline constexpr std::size_t most_fft_passes = 8;

/// One pass of a transform of N points, decimation in frequency with outputs in order (Stockham): of the
/// inputs at q + stride (p + groups k), k from 0 to radix - 1, the DFT's output k times
/// exp(-j 2 pi p k / (groups radix)) goes to q + stride (radix p + k), for q below stride and p below groups.
/// In the last pass groups is 1, and nothing is multiplied.
struct FftPass {
    std::uint32_t radix = 0;
    std::uint32_t groups = 0;
    std::uint32_t stride = 0;
    /// Where its factors are in the table: (groups, radix - 1) pairs of real and imaginary part.
    std::uint32_t factors = 0;
    /// The same factors for butterfly q + stride p, so that vectors find them side by side: (radix - 1, 2,
    /// stride x groups) numbers, real parts first; for passes whose stride is below that of vectors.
    std::uint32_t spread_factors = 0;
};

/// What kernels need to know of a transform.
struct Fft {
    std::uint32_t size = 0;
    std::uint32_t passes = 0;
    std::array<FftPass, most_fft_passes> pass{};
    const float* table = nullptr;
};

/// Radices and factors of a transform of N points, N >= 4 without prime factors above 5 and no 2 x an odd
/// number: 8 as often as it leaves 1, 4 or 16 of the power of 2 in N, or more, then 4, then 3, then 5.
class FftPlan {
public:
    /// Passes that have spread factors: the first so many.
    FftPlan(std::size_t size, std::size_t spread_passes);

    [[nodiscard]] const Fft& fft() const { return fft_; }
    [[nodiscard]] const std::vector<float>& table() const { return table_; }
    FftPlan(const FftPlan&) = delete;  // fft() points into the table
    FftPlan& operator=(const FftPlan&) = delete;

private:
    void add_pass(std::uint32_t radix);
    void add_factors(FftPass& pass, bool spread);

    Fft fft_;
    std::vector<float> table_;
};

}  // namespace phy::detail
