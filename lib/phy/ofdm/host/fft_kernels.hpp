#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "phy/core/backend.hpp"
#include "phy/ofdm/math/fft_plan.hpp"
#include "phy/simd/aligned_vector.hpp"

namespace phy::detail {

/// Complex numbers as two arrays of binary32, aligned to vectors.
struct Planes {
    float* re = nullptr;
    float* im = nullptr;
};

/// Workspace of a transform.
using TwoPlanes = std::array<Planes, 2>;

/// Where bins become elements: bin b is element b + zero modulo N. The first `count` are stored, times a
/// factor; non-finite components become the one NaN.
struct Elements {
    float* out = nullptr;  ///< pairs at any address
    std::size_t count = 0;
    std::size_t zero = 0;
    float factor[2] = {1.0F, 0.0F};
};

struct FftKernels {
    /// Numbers in a vector.
    std::size_t lanes;

    /// Transforms complex numbers at any address and stores elements. Needs FactorOrder::vectors and N a
    /// multiple of 128.
    void (*transform)(const Fft& fft, const void* points, const TwoPlanes& work, const Elements& elements);

    /// The same for points in work[0]. The returned bins are in either plane of work.
    Planes (*transform_planes)(const Fft& fft, const TwoPlanes& work);

    /// One transform per lane: point i of transform t is in work[0] at i lanes + t.
    Planes (*transform_lanes)(const Fft& fft, const TwoPlanes& work);

    /// Complex numbers times a real factor; non-finite components become the one NaN. count is a multiple of
    /// lanes.
    void (*scale)(const Planes& in, std::size_t count, float factor, float* out);

    /// Complex numbers times those of another array. in and out may be the same.
    void (*multiply)(const float* in, const float* factors, std::size_t count, float* out);
};

/// Throws BackendError if the backend does not run here or needs device memory.
const FftKernels& fft_kernels(const Backend& backend);

/// Workspace of transforms on a host: for each thread two pairs of planes and a row of complex numbers.
class FftWorkspace {
public:
    /// points: of all transforms that a thread runs at a time; row: complex numbers.
    FftWorkspace(int threads, std::size_t points, std::size_t row)
        : plane_(rounded(points)),
          each_(4 * plane_ + rounded(2 * row)),
          numbers_(static_cast<std::size_t>(threads) * each_) {}

    [[nodiscard]] TwoPlanes planes(int thread) {
        float* const mine = of(thread);
        return {Planes{mine, mine + plane_}, Planes{mine + 2 * plane_, mine + 3 * plane_}};
    }
    [[nodiscard]] float* row(int thread) { return of(thread) + 4 * plane_; }

private:
    static constexpr std::size_t line = 16;  ///< numbers per cache line

    /// Adds room for vectors that reach beyond the end, and keeps planes out of the same cache sets.
    static std::size_t rounded(std::size_t numbers) { return (numbers + line - 1) / line * line + 5 * line; }

    [[nodiscard]] float* of(int thread) { return numbers_.data() + static_cast<std::size_t>(thread) * each_; }

    std::size_t plane_;
    std::size_t each_;
    AlignedVector<float> numbers_;
};

}  // namespace phy::detail
