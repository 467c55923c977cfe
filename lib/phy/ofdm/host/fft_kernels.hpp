#pragma once

#include <array>
#include <cstddef>

#include "phy/core/backend.hpp"
#include "phy/ofdm/math/fft_plan.hpp"

namespace phy::detail {

/// Complex numbers as two arrays of binary32, aligned to vectors.
struct Planes {
    float* re = nullptr;
    float* im = nullptr;
};

/// Memory that a transform works in.
using TwoPlanes = std::array<Planes, 2>;

struct FftKernels {
    /// Numbers in a vector. Transforms of multiples of 128 points have spread factors for
    /// `spread_fft_passes`.
    std::size_t lanes;

    /// Transforms complex numbers at any address in place of work[0]; the planes that it returns are one of
    /// the two. N is a multiple of 128.
    Planes (*transform)(const Fft& fft, const void* points, const TwoPlanes& work);

    /// The same of what is in work[0].
    Planes (*transform_planes)(const Fft& fft, const TwoPlanes& work);

    /// As many transforms as there are lanes: point i of transform t is in work[0] at i lanes + t.
    Planes (*transform_lanes)(const Fft& fft, const TwoPlanes& work);

    /// Complex numbers times one factor, not finite ones as the one NaN. in: from `first` on.
    void (*scale)(const Planes& in, std::size_t first, std::size_t count, const float* factor, float* out);

    /// Complex numbers times those of another array; in may be out.
    void (*multiply)(const float* in, const float* factors, std::size_t count, float* out);
};

/// Throws BackendError if the backend does not run here or needs device memory.
const FftKernels& fft_kernels(const Backend& backend);

extern const FftKernels scalar_fft_kernels;

/// Of transforms of multiples of 128 points, whose radices are 8 and then 8 or 4: strides of 1 and 8.
inline constexpr std::size_t spread_fft_passes = 2;

}  // namespace phy::detail
