#include "phy/equalizer/host/kernels.hpp"

#define PHY_KERNELS "phy/equalizer/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {

const EqualizerKernels& equalizer_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, EqualizerKernels);
}

}  // namespace phy::detail
