#include "phy/pipeline/device_memory.hpp"

#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

DevicePortMemory::DevicePortMemory(const gpu::Device& device, const std::vector<Port>& ports,
                                   std::size_t most)
    : device_(device),
      layout_(ports, device_alignment),
      on_device_(device, layout_.bytes(most)),
      host_arrays_(ports.size()),
      device_arrays_(ports.size()) {}

std::span<const std::span<std::byte>> DevicePortMemory::host_arrays(std::size_t items) {
    layout_.divide(pinned(), items, std::span(host_arrays_));
    items_of_host_ = items;
    return host_arrays_;
}

std::span<const gpu::DeviceSpan<std::byte>> DevicePortMemory::device_arrays(std::size_t items) {
    layout_.divide(on_device_.span(), items, std::span(device_arrays_));
    items_of_device_ = items;
    return device_arrays_;
}

void DevicePortMemory::copy_in(std::span<const std::span<const std::byte>> arrays, bool is_lent,
                               cudaStream_t stream) {
    if (is_one_copy(is_lent)) {
        const std::size_t bytes = layout_.bytes(items_of_device_);
        return gpu::copy_async(on_device_.first(bytes), std::span<const std::byte>(on_host_).first(bytes),
                               stream);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!arrays[i].empty()) gpu::copy_async(device_arrays_[i], arrays[i], stream);
    }
}

void DevicePortMemory::copy_out(std::span<const std::span<std::byte>> arrays, bool is_lent,
                                cudaStream_t stream) {
    if (is_one_copy(is_lent)) {
        const std::size_t bytes = layout_.bytes(items_of_device_);
        return gpu::copy_async(std::span<std::byte>(on_host_).first(bytes), on_device_.first(bytes), stream);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!arrays[i].empty()) gpu::copy_async(arrays[i], device_arrays_[i], stream);
    }
}

std::span<std::byte> DevicePortMemory::pinned() {
    const std::size_t size = on_device_.size();
    if (size == 0 || on_host_.size() != 0) return on_host_;
    const gpu::CurrentDevice current(device_);
    try {
        on_host_ = gpu::PinnedBuffer<std::byte>(size);
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error("pipeline: cannot allocate " + std::to_string(size) +
                    " bytes of page-locked memory for a chunk in flight");
    }
    return on_host_;
}

/// If the source ended with fewer items than requested, the layouts differ.
bool DevicePortMemory::is_one_copy(bool is_lent) const {
    return !is_lent && !layout_.ports().empty() && items_of_host_ == items_of_device_;
}

}  // namespace phy::detail
