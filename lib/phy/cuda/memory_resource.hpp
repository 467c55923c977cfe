#pragma once

#include <cstddef>
#include <memory>

#include "phy/core/export.hpp"
#include "phy/cuda/device.hpp"

namespace phy::gpu {

/// Where device memory comes from. All that phy has on a device, but for what CUDA takes itself, comes from
/// memory_resource(): a caller who has a pool of his own gives it to set_memory_resource().
///
/// Both functions may be called by several threads at a time, and the device is the thread's current one.
class PHY_EXPORT MemoryResource {
public:
    virtual ~MemoryResource() = default;

    /// Memory of the device, aligned to 256 bytes, that work on any stream may use when the call returns.
    /// Throws CudaError, with cudaErrorMemoryAllocation where there is not enough.
    virtual void* allocate(const Device& device, std::size_t bytes) = 0;

    /// Work that was started before may still use the memory, as with cudaFree.
    virtual void deallocate(const Device& device, void* memory, std::size_t bytes) noexcept = 0;
};

/// What buffers are made from; at first cudaMalloc.
PHY_EXPORT std::shared_ptr<MemoryResource> memory_resource();

/// Buffers that are there already keep theirs. A null pointer stands for cudaMalloc. Returns the resource
/// before.
PHY_EXPORT std::shared_ptr<MemoryResource> set_memory_resource(std::shared_ptr<MemoryResource> resource);

}  // namespace phy::gpu
