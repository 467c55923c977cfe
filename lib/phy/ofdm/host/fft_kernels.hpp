#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "phy/core/backend.hpp"
#include "phy/ofdm/math/fft_plan.hpp"
#include "phy/simd/aligned_vector.hpp"

namespace phy::detail {

/// Workspace of a transform: two arrays of complex numbers by vectors, as many real parts as a vector has
/// numbers before as many imaginary ones.
using FftWork = std::array<float*, 2>;

/// Where bins become elements: bin b is element b + zero modulo N. The first `count` are stored, times a
/// factor; non-finite components become the one NaN.
struct Elements {
    float* out = nullptr;  ///< pairs at any address
    std::size_t count = 0;
    std::size_t zero = 0;  ///< at most count
    float factor[2] = {1.0F, 0.0F};
};

struct FftKernels {
    /// Numbers in a vector.
    std::size_t lanes;

    /// Transforms complex numbers at any address and stores elements. Needs FactorOrder::vectors and N a
    /// multiple of 128.
    void (*transform)(const Fft& fft, const float* points, const FftWork& work, const Elements& elements);

    /// The same with all bins, as they are, in place of the points.
    void (*transform_in_place)(const Fft& fft, float* points, const FftWork& work);

    /// One transform per lane: vector i in work[0] has point i of each. Returns the bins, likewise.
    float* (*transform_lanes)(const Fft& fft, const FftWork& work);

    /// Complex numbers by vectors times a real factor, as pairs; non-finite components become the one NaN.
    /// count is a multiple of lanes.
    void (*scale)(const float* in, std::size_t count, float factor, float* out);

    /// Complex numbers times those of another array. in and out may be the same.
    void (*multiply)(const float* in, const float* factors, std::size_t count, float* out);
};

/// Throws BackendError if the backend does not run here or needs device memory.
const FftKernels& fft_kernels(const Backend& backend);

/// Workspace of transforms on a host: for each thread FftWork and a row of complex numbers.
class FftWorkspace {
public:
    /// numbers: in each array of FftWork, 4 N for transform(), which works on two blocks or on rows with
    /// padding between them, and 2 N a lane for transform_lanes(); row: complex numbers.
    FftWorkspace(int threads, std::size_t numbers, std::size_t row)
        : half_(rounded(numbers)),
          each_(2 * half_ + rounded(2 * row)),
          numbers_(static_cast<std::size_t>(threads) * each_) {}

    [[nodiscard]] FftWork work(int thread) { return {of(thread), of(thread) + half_}; }
    [[nodiscard]] float* row(int thread) { return of(thread) + 2 * half_; }

private:
    static constexpr std::size_t line = 16;  ///< numbers per cache line

    /// Adds room for vectors that reach beyond the end, and keeps arrays out of the same cache sets.
    static std::size_t rounded(std::size_t numbers) { return (numbers + line - 1) / line * line + 5 * line; }

    [[nodiscard]] float* of(int thread) { return numbers_.data() + static_cast<std::size_t>(thread) * each_; }

    std::size_t half_;
    std::size_t each_;
    AlignedVector<float> numbers_;
};

}  // namespace phy::detail
