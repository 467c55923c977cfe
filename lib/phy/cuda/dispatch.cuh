#pragma once

#include <type_traits>

#include "phy/cuda/device.hpp"

#include <cuda_runtime_api.h>

/// From values known at run time to kernels.
namespace phy::gpu::detail {

/// Returns visit(std::integral_constant<Enum, value>{}). The caller has checked that value lies from first to
/// count - 1. Branches on the bits of the value, highest first: a switch would become a table of addresses,
/// which a kernel must fetch before it jumps.
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

/// Makes the driver load a kernel's code now instead of at the first launch.
template <typename Kernel>
void load_code(Kernel kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
}

}  // namespace phy::gpu::detail
