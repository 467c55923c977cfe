#pragma once

#include <cstddef>
#include <vector>

#include "phy/ofdm/host/fft_kernels.hpp"

namespace phy::detail {

/// Workspace of transforms on a host: for each thread two pairs of planes and a row of complex numbers.
class FftWorkspace {
public:
    /// points: of all transforms that a thread runs at a time; row: complex numbers.
    FftWorkspace(int threads, std::size_t points, std::size_t row)
        : plane_(rounded(points)),
          each_(4 * plane_ + rounded(2 * row)),
          numbers_(static_cast<std::size_t>(threads) * each_ + line) {
        const auto address = reinterpret_cast<std::uintptr_t>(numbers_.data());
        first_ = (line * sizeof(float) - address % (line * sizeof(float))) / sizeof(float) % line;
    }

    [[nodiscard]] TwoPlanes planes(int thread) {
        float* const mine = of(thread);
        return {Planes{mine, mine + plane_}, Planes{mine + 2 * plane_, mine + 3 * plane_}};
    }
    [[nodiscard]] float* row(int thread) { return of(thread) + 4 * plane_; }

private:
    static constexpr std::size_t line = 16;  ///< numbers per cache line

    /// Adds room for vectors that reach beyond the end, and keeps planes out of the same cache sets.
    static std::size_t rounded(std::size_t numbers) { return (numbers + line - 1) / line * line + 5 * line; }

    [[nodiscard]] float* of(int thread) {
        return numbers_.data() + first_ + static_cast<std::size_t>(thread) * each_;
    }

    std::size_t plane_;
    std::size_t each_;
    std::size_t first_ = 0;
    std::vector<float> numbers_;
};

}  // namespace phy::detail
