#pragma once

#include <type_traits>

#include "phy/cuda/device.hpp"

#include <cuda_runtime_api.h>

/// From values known at run time to kernels.
namespace phy::gpu::detail {

/// Calls visit(std::integral_constant<Enum, value>) for a value from first to count - 1, which the caller has
/// checked, and returns what it returns. By the bits of the number, the highest first: a switch becomes a
/// table of addresses, which kernels fetch before they jump.
template <typename Enum, unsigned count, unsigned first = 0, unsigned prefix = 0, unsigned bit = 8,
          typename Visitor>
__host__ __device__ __forceinline__ constexpr auto with_constant_by_bits(Enum value, Visitor visit) {
    if constexpr (bit == 0) {
        return visit(std::integral_constant<Enum, static_cast<Enum>(prefix)>());
    } else {
        constexpr unsigned half = 1U << (bit - 1);
        constexpr unsigned upper = prefix + half;
        if constexpr (upper >= count) {
            return with_constant_by_bits<Enum, count, first, prefix, bit - 1>(value, visit);
        } else if constexpr (upper <= first) {
            return with_constant_by_bits<Enum, count, first, upper, bit - 1>(value, visit);
        } else {
            if ((static_cast<unsigned>(value) & half) != 0)
                return with_constant_by_bits<Enum, count, first, upper, bit - 1>(value, visit);
            return with_constant_by_bits<Enum, count, first, prefix, bit - 1>(value, visit);
        }
    }
}

/// Has the driver load a kernel's code, which otherwise happens when it is first launched.
template <typename Kernel>
void load_code(Kernel kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
}

}  // namespace phy::gpu::detail
