#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "phy/cuda/device.hpp"

#include <cuda_runtime.h>

/// Chains of dependent launches (programmatic dependent launch, CUDA C++ Programming Guide): each kernel is
/// prepared while the one before still runs. Needs compute capability 9.0; on earlier devices kernels run one
/// after the other.
namespace phy::gpu::detail {

/// All threads of a kernel that launch_dependent() starts early must call this. Before the call they must not
/// access memory that the previous kernel, or an earlier kernel of the chain that may still run, writes, nor
/// write memory that these read. Later work on the stream waits for this kernel only, so it must wait even if
/// it needs no result. A kernel that runs beside the previous one may let a few blocks of its own wait, if
/// the previous one lets it start after its own wait only, and both touch nothing that the other writes.
__device__ __forceinline__ void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// The next kernel of the chain is prepared once all blocks of this kernel have called this or ended.
__device__ __forceinline__ void let_next_get_ready() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// True if the code that runs on the current device waits in wait_for_previous().
inline bool supports_dependent_launch() {
#if defined(__CUDA_ARCH_LIST__)
    constexpr std::array compiled_for = {__CUDA_ARCH_LIST__};
    constexpr int first_that_waits = 900;
    if (*std::min_element(compiled_for.begin(), compiled_for.end()) >= first_that_waits) return true;
    int device = 0;
    int major = 0;
    int minor = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    const int capability = 100 * major + 10 * minor;
    return capability >= first_that_waits &&
           std::find(compiled_for.begin(), compiled_for.end(), capability) != compiled_for.end();
#else
    return false;
#endif
}

/// kernel<<<blocks, threads, shared, stream>>>(arguments...). If is_early, the kernel is prepared while
/// earlier work on the stream still runs. It calls wait_for_previous(), and reads results of the chain with
/// plain loads: read-only loads may come too early.
template <typename... Parameters>
void launch_dependent(void (*kernel)(Parameters...), bool is_early, dim3 blocks, unsigned threads,
                      std::size_t shared, cudaStream_t stream,
                      const std::type_identity_t<Parameters>&... arguments) {
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = is_early && supports_dependent_launch() ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace phy::gpu::detail
