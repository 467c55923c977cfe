#include "phy/simd/arrays.hpp"

#define PHY_KERNELS "phy/simd/arrays-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {

const ArrayKernels& array_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, ArrayKernels);
}

}  // namespace phy::detail
