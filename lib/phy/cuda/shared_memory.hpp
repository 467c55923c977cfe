#pragma once

#include "phy/cuda/device.hpp"

#include <cuda_runtime_api.h>

namespace phy::gpu::detail {

/// Loads a kernel's code, and lets its launches take all the shared memory of a block. That limit belongs to
/// the kernel and not to a launch: one that an operator sets for itself would hold for all others too.
template <typename Kernel>
void load_code_with_shared_memory(Kernel kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    int device = 0;
    int of_block = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               of_block - static_cast<int>(attributes.sharedSizeBytes)));
}

}  // namespace phy::gpu::detail
