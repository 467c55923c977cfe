#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "phy/cuda/memory_resource.hpp"

namespace phy_test {

/// Sets phy's memory resource until the end of a block.
class ResourceInUse {
public:
    explicit ResourceInUse(std::shared_ptr<phy::gpu::MemoryResource> resource)
        : before_(phy::gpu::set_memory_resource(std::move(resource))) {}
    ~ResourceInUse() { phy::gpu::set_memory_resource(before_); }
    ResourceInUse(const ResourceInUse&) = delete;
    ResourceInUse& operator=(const ResourceInUse&) = delete;

private:
    std::shared_ptr<phy::gpu::MemoryResource> before_;
};

/// Forwards and counts requests.
class CountingResource : public phy::gpu::MemoryResource {
public:
    void* allocate(const phy::gpu::Device& device, std::size_t bytes) override {
        void* const memory = from_->allocate(device, bytes);
        const std::lock_guard lock(mutex_);
        ++allocations_;
        if (bytes == 0) mistake_ = "nothing was asked for";
        lent_[memory] = {device.ordinal(), bytes};
        return memory;
    }

    void deallocate(const phy::gpu::Device& device, void* memory, std::size_t bytes) noexcept override {
        {
            const std::lock_guard lock(mutex_);
            const auto found = lent_.find(memory);
            if (found == lent_.end()) {
                mistake_ = "came back, but is not from here";
            } else {
                if (found->second != std::pair(device.ordinal(), bytes)) mistake_ = "came back otherwise";
                lent_.erase(found);
            }
        }
        from_->deallocate(device, memory, bytes);
    }

    [[nodiscard]] std::size_t allocations() const {
        const std::lock_guard lock(mutex_);
        return allocations_;
    }

    /// Bytes that were not returned.
    [[nodiscard]] std::size_t lent() const {
        const std::lock_guard lock(mutex_);
        return lent_.size();
    }

    [[nodiscard]] std::string mistake() const {
        const std::lock_guard lock(mutex_);
        return mistake_;
    }

private:
    std::shared_ptr<phy::gpu::MemoryResource> from_ = phy::gpu::memory_resource();
    mutable std::mutex mutex_;
    std::size_t allocations_ = 0;
    std::map<void*, std::pair<int, std::size_t>> lent_;  ///< device and bytes
    std::string mistake_;
};

/// A resource without memory.
class EmptyResource : public phy::gpu::MemoryResource {
public:
    void* allocate(const phy::gpu::Device& /*device*/, std::size_t /*bytes*/) override {
        ++requests;
        throw phy::gpu::CudaError(out_of_memory);
    }
    void deallocate(const phy::gpu::Device& /*device*/, void* /*memory*/,
                    std::size_t /*bytes*/) noexcept override {}

    std::atomic<int> requests = 0;

private:
    static constexpr int out_of_memory = 2;  // cudaErrorMemoryAllocation
};

}  // namespace phy_test
