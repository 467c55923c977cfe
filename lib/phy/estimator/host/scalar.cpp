// One number at a time: the reference for all instruction sets.

#include "phy/estimator/host/arrays-inl.h"
#include "phy/estimator/host/kernels.hpp"

namespace phy::detail {
namespace scalar {
namespace {

struct Memory {
    static constexpr int width = 1;
    static float load(const float* from, int) { return *from; }
    static float load_reversed(const float* from, int) { return *from; }
    static void store(float v, float* to, int) { *to = v; }
    static void store_reversed(float v, float* to, int) { *to = v; }
};

void multiply(const float* a, int a_stride, int k_count, const float* x, int x_stride, float* y, int y_stride,
              int columns, int n_count, bool accumulates) {
    for (int c = 0; c < columns; ++c) {
        float* const out = y + static_cast<std::ptrdiff_t>(c) * y_stride;
        for (int n = 0; n < n_count; ++n) {
            float sum = accumulates ? out[n] : 0.0F;
            for (int k = 0; k < k_count; ++k)
                sum = Ops::fma(a[static_cast<std::ptrdiff_t>(k) * a_stride + n],
                               x[static_cast<std::ptrdiff_t>(c) * x_stride + k], sum);
            out[n] = sum;
        }
    }
}

}  // namespace
}  // namespace scalar

constinit const EstimatorKernels scalar_estimator_kernels =
    scalar::EstimatorArrays<scalar::Ops, scalar::Memory>::kernels(&scalar::multiply);

}  // namespace phy::detail
