#include "phy/cuda/buffer.hpp"

#include <mutex>

#include <cuda_runtime_api.h>

#include "phy/cuda/give_back.hpp"

namespace phy::gpu {
namespace {

class CudaMalloc : public MemoryResource {
public:
    void* allocate(const Device& /*device*/, std::size_t bytes) override {
        void* memory = nullptr;
        check(cudaMalloc(&memory, bytes));
        return memory;
    }
    void deallocate(const Device& /*device*/, void* memory, std::size_t /*bytes*/) noexcept override {
        detail::clear_error(cudaFree(memory));
    }
};

struct Chosen {
    std::mutex mutex;
    std::shared_ptr<MemoryResource> resource = std::make_shared<CudaMalloc>();
};

Chosen& chosen() {
    static Chosen the_chosen;
    return the_chosen;
}

}  // namespace

std::shared_ptr<MemoryResource> memory_resource() {
    const std::lock_guard lock(chosen().mutex);
    return chosen().resource;
}

std::shared_ptr<MemoryResource> set_memory_resource(std::shared_ptr<MemoryResource> resource) {
    if (!resource) resource = std::make_shared<CudaMalloc>();
    const std::lock_guard lock(chosen().mutex);
    return std::exchange(chosen().resource, std::move(resource));
}

namespace detail {

void PinnedMemoryDeleter::operator()(void* memory) const noexcept {
    give_back(device, [&] { return cudaFreeHost(memory); });
}

std::shared_ptr<void> allocate_device(const Device& device, std::size_t bytes) {
    if (bytes == 0) return {};
    const CurrentDevice current(device);
    auto resource = memory_resource();
    void* const memory = resource->allocate(device, bytes);
    return {memory, [resource, device, bytes](void* what) noexcept {
                give_back(device.ordinal(), [&] {
                    resource->deallocate(device, what, bytes);
                    return cudaSuccess;
                });
            }};
}

OwnedPinnedMemory allocate_pinned(std::size_t bytes) {
    if (bytes == 0) return {};
    int device = 0;
    check(cudaGetDevice(&device));
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable));
    return {memory, {device}};
}

void copy_async(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

void fill_async(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
    if (bytes != 0) check(cudaMemsetAsync(to, byte, bytes, stream));
}

}  // namespace detail

}  // namespace phy::gpu
