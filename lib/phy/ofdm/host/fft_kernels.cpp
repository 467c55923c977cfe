#include "phy/ofdm/host/fft_kernels.hpp"

#define PHY_KERNELS "phy/ofdm/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {

const FftKernels& fft_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, FftKernels);
}

}  // namespace phy::detail
