#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "phy/core/format.hpp"

namespace phy::gpu::detail {

/// Packs soft bits for storage. Input: fp16 and fp32 as numbers, int8 in the low byte.
template <SoftBitFormat format, int count>
__device__ __forceinline__ void pack(const float* values, std::uint32_t* words) {
    if constexpr (format == SoftBitFormat::int8) {
        const auto bits = [values](int i) { return __float_as_uint(values[i]); };
#pragma unroll
        for (int i = 0; i < count; i += 4) {
            const std::uint32_t low = __byte_perm(bits(i), bits(i + 1), 0x0040);
            const std::uint32_t high = __byte_perm(bits(i + 2), bits(i + 3), 0x0040);
            words[i / 4] = __byte_perm(low, high, 0x5410);
        }
    } else if constexpr (format == SoftBitFormat::float16) {
#pragma unroll
        for (int i = 0; i < count; i += 2) {
            const __half2 pair = __floats2half2_rn(values[i], values[i + 1]);
            words[i / 2] = *reinterpret_cast<const std::uint32_t*>(&pair);
        }
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            words[i] = __float_as_uint(values[i]);
    }
}

}  // namespace phy::gpu::detail
