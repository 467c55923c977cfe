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

/// Where bins go as elements: bin b is element b + zero modulo N, and the first `count` are stored, times a
/// factor; not finite ones as the one NaN.
struct Elements {
    float* out = nullptr;  ///< pairs at any address
    std::size_t count = 0;
    std::size_t zero = 0;
    float factor[2] = {1.0F, 0.0F};
};

struct FftKernels {
    /// Numbers in a vector.
    std::size_t lanes;

    /// Transforms complex numbers at any address in two arrays of memory and stores elements. The plan's
    /// order is that of vectors, and N is a multiple of 128.
    void (*transform)(const Fft& fft, const void* points, const TwoPlanes& work, const Elements& elements);

    /// The same of what is in work[0]; the bins that it returns are in one of the two.
    Planes (*transform_planes)(const Fft& fft, const TwoPlanes& work);

    /// As many transforms as there are lanes: point i of transform t is in work[0] at i lanes + t.
    Planes (*transform_lanes)(const Fft& fft, const TwoPlanes& work);

    /// Complex numbers times a real factor, not finite ones as the one NaN. count is a multiple of the lanes.
    void (*scale)(const Planes& in, std::size_t count, float factor, float* out);

    /// Complex numbers times those of another array; in may be out.
    void (*multiply)(const float* in, const float* factors, std::size_t count, float* out);
};

/// Throws BackendError if the backend does not run here or needs device memory.
const FftKernels& fft_kernels(const Backend& backend);

extern const FftKernels scalar_fft_kernels;

}  // namespace phy::detail
