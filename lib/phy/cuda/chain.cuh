#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "phy/cuda/device.hpp"

#include <cuda_runtime.h>

/// Kernels of a chain, each of which is got ready while the one before still runs (programmatic dependent
/// launch, CUDA C++ Programming Guide): of compute capability 9.0 and later; before, one after the other.
namespace phy::gpu::detail {

/// All threads of a kernel that launch_in_chain() starts call this, and before it touch no memory that the
/// kernel before it, or one that was got ready early as well, writes; nor do they write what one of these
/// reads. What follows on the stream waits for this kernel alone: so it waits even where it needs nothing.
__device__ __forceinline__ void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// Once all blocks of a kernel have called it or are done, the next one of the chain is got ready.
__device__ __forceinline__ void let_next_get_ready() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// True if the code that the current device runs waits in wait_for_previous().
inline bool code_waits() {
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

/// kernel<<<blocks, threads, shared, stream>>>(arguments...), if is_early got ready while what is before on
/// the stream runs. The kernel calls wait_for_previous(), and reads what others of the chain wrote by plain
/// loads: those for constants may be too early.
template <typename... Parameters>
void launch_in_chain(void (*kernel)(Parameters...), bool is_early, dim3 blocks, unsigned threads,
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
    config.numAttrs = is_early && code_waits() ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace phy::gpu::detail
