#include "phy/cuda/device.hpp"

#include <algorithm>
#include <string_view>

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#include "phy/core/machine.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/architectures.hpp"
#include "phy/cuda/give_back.hpp"

namespace phy::gpu {
namespace {

using detail::clear_error;

std::string name_and_text(int code) {
    const auto error = static_cast<cudaError_t>(code);
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

/// File name without its folders, and line.
std::string place_text(const detail::CallSite& where) {
    const std::string_view path = where.file;
    return std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(where.line);
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string capability_text(int compute_capability) {
    return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

/// A driver runs programs of all minor versions of its major version. Older ones than that of 12.4 cannot
/// read kernels that are compressed for size.
constexpr int oldest_driver = std::max(CUDART_VERSION / 1000 * 1000, 12040);

/// The driver's CUDA version; 0 without a driver.
int driver_version() {
    int version = 0;
    clear_error(cudaDriverGetVersion(&version));
    return version;
}

int count_devices(int& count) {
    const int code =
        driver_version() < oldest_driver ? cudaErrorInsufficientDriver : cudaGetDeviceCount(&count);
    clear_error(code);
    if (code != cudaSuccess) count = 0;
    return code;
}

std::string why_no_device(int code) {
    const int driver = driver_version();
    if (driver == 0 && !phy::detail::has_nvidia_gpu("/")) return "no NVIDIA GPU";
    if (driver == 0)
        return "no CUDA driver: expected NVIDIA's for CUDA " + version_text(oldest_driver) + " or later";
    if (code == cudaErrorInsufficientDriver || driver < oldest_driver)
        return "the CUDA driver is too old: it supports CUDA " + version_text(driver) + ", expected " +
               version_text(oldest_driver) + " or later";
    if (code == cudaErrorNoDevice || code == cudaSuccess) return "no CUDA device";
    return "CUDA cannot be initialised: " + name_and_text(code);
}

int attribute(int ordinal, cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, ordinal));
    return value;
}

int compute_capability_of(int ordinal) {
    return 10 * attribute(ordinal, cudaDevAttrComputeCapabilityMajor) +
           attribute(ordinal, cudaDevAttrComputeCapabilityMinor);
}

cudaDeviceProp properties(int ordinal) {
    cudaDeviceProp result{};
    check(cudaGetDeviceProperties(&result, ordinal));
    return result;
}

/// Checks the list of architectures: checking a kernel would create a context on every device.
std::string why_not_on(int ordinal) {
    int count = 0;
    const int code = count_devices(count);
    if (count == 0) return why_no_device(code);
    if (ordinal < 0 || ordinal >= count)
        return "no such CUDA device: expected 0" + (count == 1 ? "" : " to " + std::to_string(count - 1));
    const int capability = compute_capability_of(ordinal);
    if (phy::detail::architectures_cover(cuda_architectures, capability)) return "";
    return "this build of phy has no code for compute capability " + capability_text(capability) +
           ", only for " + cuda_architectures;
}

}  // namespace

CudaError::CudaError(int code, detail::CallSite where)
    : Error(name_and_text(code) + " (" + place_text(where) + ")"), code_(code) {
    // Clear the error: otherwise the next launch would report it.
    cudaGetLastError();
}

bool CudaError::out_of_memory() const {
    return code_ == cudaErrorMemoryAllocation;
}

Device::Device(int ordinal) : ordinal_(ordinal) {
    const std::string why = why_not_on(ordinal);
    if (!why.empty()) throw BackendError("CUDA device " + std::to_string(ordinal) + ": " + why);
}

std::vector<Device> Device::all() {
    std::vector<Device> devices;
    const int count = phy::detail::count_cuda_devices();
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        if (why_not_on(ordinal).empty()) devices.emplace_back(ordinal);
    }
    return devices;
}

std::string Device::why_not() {
    int count = 0;
    const int code = count_devices(count);
    if (count == 0) return why_no_device(code);
    std::string all_why;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        const std::string why = why_not_on(ordinal);
        if (!why.empty())
            all_why +=
                (all_why.empty() ? "" : "; ") + ("CUDA device " + std::to_string(ordinal) + ": ") + why;
    }
    return all_why;
}

bool Device::installed() {
    return phy::detail::has_nvidia_gpu("/") || phy::detail::count_cuda_devices() > 0;
}

std::string Device::name() const {
    return properties(ordinal_).name;
}

int Device::compute_capability() const {
    return compute_capability_of(ordinal_);
}

int Device::multiprocessors() const {
    return attribute(ordinal_, cudaDevAttrMultiProcessorCount);
}

std::size_t Device::shared_memory_per_block() const {
    return static_cast<std::size_t>(attribute(ordinal_, cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

std::size_t Device::memory() const {
    return properties(ordinal_).totalGlobalMem;
}

std::size_t Device::free_memory() const {
    const CurrentDevice current(*this);
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total));
    return free;
}

void Device::synchronize() const {
    const CurrentDevice current(*this);
    check(cudaDeviceSynchronize());
}

void Device::make_current() const {
    check(cudaSetDevice(ordinal_));
}

}  // namespace phy::gpu

namespace phy::detail {

int count_cuda_devices() {
    int count = 0;
    gpu::count_devices(count);
    return count;
}

std::string why_not_on_cuda_device(int ordinal) {
    return gpu::why_not_on(ordinal);
}

std::string describe_cuda_device(int ordinal) {
    const gpu::Device device(ordinal);
    const auto gigabytes = (device.memory() + 500'000'000) / 1'000'000'000;
    return device.name() + ", compute capability " + gpu::capability_text(device.compute_capability()) +
           ", " + std::to_string(device.multiprocessors()) + " multiprocessors, " +
           std::to_string(gigabytes) + " GB";
}

void push_range(const char* name) {
    nvtxRangePushA(name);
}

void pop_range() {
    nvtxRangePop();
}

}  // namespace phy::detail
