// One number at a time: the reference that every instruction set is compared with.

#include <cstring>

#include "phy/scaling/host/kernels.hpp"
#include "phy/scaling/math/scaled-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

void scale(const float* in, float* out, std::size_t count, float factor) {
    for (std::size_t i = 0; i < count; ++i) {
        float component;
        std::memcpy(&component, in + i, sizeof component);
        component = scaled<Ops>(component, factor);
        std::memcpy(out + i, &component, sizeof component);
    }
}

}  // namespace
}  // namespace scalar

constinit const ScalingKernels scalar_scaling_kernels = {&scalar::scale};

}  // namespace phy::detail
