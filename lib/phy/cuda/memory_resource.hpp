#pragma once

#include <cstddef>
#include <memory>

#include "phy/core/export.hpp"
#include "phy/cuda/device.hpp"

namespace phy::gpu {

/// The source of device memory. All device memory of phy, except what CUDA itself allocates, comes from
/// memory_resource(). Programs with their own memory pool install it with set_memory_resource().
///
/// Implementations must be thread-safe. phy calls both functions with the device as the thread's current one.
class PHY_EXPORT MemoryResource {
public:
    virtual ~MemoryResource() = default;

    /// Returns memory of the device, aligned to 256 bytes, that work on any stream can use at once. Throws
    /// CudaError, with cudaErrorMemoryAllocation if there is not enough memory.
    virtual void* allocate(const Device& device, std::size_t bytes) = 0;

    /// Earlier work may still use the memory, as with cudaFree().
    virtual void deallocate(const Device& device, void* memory, std::size_t bytes) noexcept = 0;
};

/// The resource that buffers allocate from; cudaMalloc() by default.
PHY_EXPORT std::shared_ptr<MemoryResource> memory_resource();

/// Sets the resource of later buffers and returns the previous one; existing buffers keep theirs. A null
/// pointer selects cudaMalloc().
PHY_EXPORT std::shared_ptr<MemoryResource> set_memory_resource(std::shared_ptr<MemoryResource> resource);

}  // namespace phy::gpu
