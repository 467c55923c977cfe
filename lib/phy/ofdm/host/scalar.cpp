// One number at a time: the reference for every instruction set.

#include "phy/ofdm/host/passes-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

Planes transform_planes(const Fft& fft, const TwoPlanes& work) {
    const std::size_t in = run_passes(fft, 0, 1, work, 0);
    finish(fft, 1, work[in], ToPlanes{work[1 - in]});
    return work[1 - in];
}

void transform(const Fft& fft, const void* points, const TwoPlanes& work, const Elements& elements) {
    const auto* const pairs = static_cast<const std::byte*>(points);
    for (std::size_t i = 0; i < fft.size; ++i)
        store(load_pairs(pairs + i * sizeof(Complex<Ops>)), work[0], i);
    finish(fft, 1, work[run_passes(fft, 0, 1, work, 0)], ToElements(elements, fft.size));
}

void scale(const Planes& in, std::size_t count, float factor, float* out) {
    for (std::size_t i = 0; i < count; ++i)
        store_pairs(scaled<Ops>(load(in, i), factor), out + 2 * i);
}

void multiply(const float* in, const float* factors, std::size_t count, float* out) {
    for (std::size_t i = 0; i < 2 * count; i += 2)
        store_pairs(product<Ops>(load_pairs(in + i), load_pairs(factors + i)), out + i);
}

}  // namespace
}  // namespace scalar

constinit const FftKernels scalar_fft_kernels = {.lanes = scalar::lanes,
                                                 .transform = &scalar::transform,
                                                 .transform_planes = &scalar::transform_planes,
                                                 .transform_lanes = &scalar::transform_lanes,
                                                 .scale = &scalar::scale,
                                                 .multiply = &scalar::multiply};

}  // namespace phy::detail
