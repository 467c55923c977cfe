#include <cuda.h>
#include <cuda_runtime_api.h>

#include "phy/cuda/device.hpp"

namespace phy::gpu {
namespace {

template <typename Function>
Function driver_function(const char* name) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) throw CudaError(cudaErrorSymbolNotFound);
    return reinterpret_cast<Function>(address);
}

/// The driver's stack of contexts. The runtime cannot tell that a thread has no context, and cudaSetDevice()
/// creates one. The functions are looked up through the runtime, because a program linked with the driver
/// does not start without it.
struct ContextStack {
    decltype(&cuDevicePrimaryCtxRetain) retain =
        driver_function<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
    decltype(&cuDevicePrimaryCtxRelease) release =
        driver_function<decltype(&cuDevicePrimaryCtxRelease)>("cuDevicePrimaryCtxRelease");
    decltype(&cuCtxPushCurrent) push = driver_function<decltype(&cuCtxPushCurrent)>("cuCtxPushCurrent");
    decltype(&cuCtxPopCurrent) pop = driver_function<decltype(&cuCtxPopCurrent)>("cuCtxPopCurrent");
};

const ContextStack& contexts() {
    static const ContextStack the_contexts;
    return the_contexts;
}

}  // namespace

CurrentDevice::CurrentDevice(int ordinal) : ordinal_(ordinal) {
    int before = 0;
    check(cudaGetDevice(&before));
    if (before == ordinal_) return;
    CUcontext context = nullptr;
    check(contexts().retain(&context, ordinal_));
    if (const int code = contexts().push(context); code != CUDA_SUCCESS) {
        contexts().release(ordinal_);
        throw CudaError(code);
    }
    pushed_ = true;
}

CurrentDevice::~CurrentDevice() {
    if (!pushed_) return;
    CUcontext context = nullptr;
    contexts().pop(&context);
    contexts().release(ordinal_);
}

}  // namespace phy::gpu
