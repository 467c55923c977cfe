#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/cuda/buffer.hpp"
#include "phy/pipeline/ports.hpp"

namespace phy::detail {

/// A buffer set's memory for the ports of one direction: a block on the device and, unless source or sink
/// lend memory, a page-locked block with the same layout, so that one copy moves all ports.
class DevicePortMemory {
public:
    DevicePortMemory(const gpu::Device& device, const std::vector<Port>& ports, std::size_t most);

    /// Size of the block on the device.
    [[nodiscard]] std::size_t bytes() const { return on_device_.size(); }

    /// Arrays for this many items in page-locked memory, which is allocated at the first call.
    std::span<const std::span<std::byte>> host_arrays(std::size_t items);

    /// Arrays for this many items on the device; later copies use them.
    std::span<const gpu::DeviceSpan<std::byte>> device_arrays(std::size_t items);

    /// Both copy the records of a chunk to or from `arrays`, which lie in the page-locked block unless
    /// is_lent.
    void copy_in(std::span<const std::span<const std::byte>> arrays, bool is_lent, cudaStream_t stream);
    void copy_out(std::span<const std::span<std::byte>> arrays, bool is_lent, cudaStream_t stream);

private:
    std::span<std::byte> pinned();
    [[nodiscard]] bool is_one_copy(bool is_lent) const;

    gpu::Device device_;
    PortLayout layout_;
    gpu::DeviceBuffer<std::byte> on_device_;
    gpu::PinnedBuffer<std::byte> on_host_;
    std::size_t items_of_host_ = 0;  ///< for which host_arrays_ are
    std::size_t items_of_device_ = 0;
    std::vector<std::span<std::byte>> host_arrays_;
    std::vector<gpu::DeviceSpan<std::byte>> device_arrays_;
};

}  // namespace phy::detail
