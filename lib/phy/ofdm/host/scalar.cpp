// One number at a time: the reference that every instruction set is compared with.

#include "phy/ofdm/host/passes-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

Planes transform_planes(const Fft& fft, const TwoPlanes& work) {
    return run_passes(fft, 0, 1, work, 0);
}

Planes transform(const Fft& fft, const void* points, const TwoPlanes& work) {
    const auto* const pairs = static_cast<const std::byte*>(points);
    for (std::size_t i = 0; i < fft.size; ++i)
        store(load_pairs(pairs + i * sizeof(Complex<Ops>)), work[0], i);
    return transform_planes(fft, work);
}

void scale(const Planes& in, std::size_t first, std::size_t count, const float* factor, float* out) {
    for (std::size_t i = 0; i < count; ++i)
        store_pairs(with_one_nan<Ops>(product<Ops>(load(in, first + i), all_lanes(factor))), out + 2 * i);
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
