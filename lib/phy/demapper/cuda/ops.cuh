#pragma once

#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/ops-inl.h"

namespace phy::gpu::detail {

using phy::detail::bits_of;
using phy::detail::Constellation;
using phy::detail::Formula;
using namespace phy::detail::cuda;  // NOLINT(google-build-using-namespace): its functions take Ops

/// The arithmetic operations of the demapper on a GPU.
struct Ops : phy::detail::cuda::Ops {
    // Numbers from 2^23 on are integers, so a sum rounded down is the floor. If an inverse is as good as the
    // exact product, this is one operation.
    template <int m>
    static __device__ V segment(V a, V last) {
        using A = phy::detail::Axis<m>;
        constexpr float integers = 0x1p23F;
        constexpr bool as_it_is = phy::detail::finds_segments<m>(A::inverse_segment, false);
        if constexpr (as_it_is || phy::detail::finds_segments<m>(A::inverse_segment_above, false)) {
            constexpr float inverse = as_it_is ? A::inverse_segment : A::inverse_segment_above;
            return fminf(__fmaf_rd(a, inverse, integers), integers + last) - integers;
        } else {
            return fminf(__fadd_rd(mul(a, A::inverse_segment), integers), integers + last) - integers;
        }
    }
};

}  // namespace phy::gpu::detail
