// Whole vectors at a time, compiled by Highway for every instruction set of the list.

#include <cstring>

#include "phy/scaling/host/kernels.hpp"
#include "phy/simd/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/scaling/host/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/scaling/math/scaled-inl.h"
#include "phy/simd/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

void scale(const void* from, void* to, std::size_t count, float factor_of_all) {
    const auto* const in = static_cast<const float*>(from);
    auto* const out = static_cast<float*>(to);
    const auto factor = hn::Set(d, factor_of_all);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(scaled<Ops>(hn::LoadU(d, in + i), factor), d, out + i);
    if (i == count) return;
    HWY_ALIGN float rest[lanes];
    hn::Store(scaled<Ops>(load_up_to(d, in + i, count - i), factor), d, rest);
    std::memcpy(out + i, rest, (count - i) * sizeof(float));
}

}  // namespace

extern constinit const ScalingKernels scaling_kernels_of_target;
constinit const ScalingKernels scaling_kernels_of_target = {&scale};

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const ScalingKernels& scaling_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<ScalingKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(scaling_kernels_of_target);
    return kernels_of(backend, scalar_scaling_kernels, by_target);
}

}  // namespace phy::detail
#endif
