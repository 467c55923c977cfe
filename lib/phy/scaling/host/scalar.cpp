// One number at a time: the reference that every instruction set is compared with.

#include <cstring>

#include "phy/scaling/host/kernels.hpp"
#include "phy/scaling/math/scaled-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

void scale(const void* in, void* out, std::size_t count, float factor) {
    for (std::size_t at = 0; at < count * sizeof(float); at += sizeof(float)) {
        float component;
        std::memcpy(&component, static_cast<const std::byte*>(in) + at, sizeof component);
        component = scaled<Ops>(component, factor);
        std::memcpy(static_cast<std::byte*>(out) + at, &component, sizeof component);
    }
}

}  // namespace
}  // namespace scalar

constinit const ScalingKernels scalar_scaling_kernels = {&scalar::scale};

}  // namespace phy::detail
