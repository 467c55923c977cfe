#pragma once

#include "phy/compression/block_float.hpp"
#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"

namespace phy::gpu {

/// Compressed resource blocks in device memory to elements there. The bytes are those of
/// phy::BlockFloatDecompressor.
///
/// A call only starts a kernel on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Any alignment of compressed bytes will do; it is fastest where both arrays
/// lie at multiples of 16 bytes. Both are in memory that the device can reach, stay there until the work is
/// done, and do not overlap. Immutable, so one decompressor may be used from many threads.
class PHY_EXPORT BlockFloatDecompressor {
public:
    using Config = BlockFloatConfig;

    /// Throws ArgumentError as phy::BlockFloatDecompressor does.
    BlockFloatDecompressor(const Device& device, const Config& config);

    /// As in phy::BlockFloatDecompressor, on the stream, which belongs to the device. Elements are aligned to
    /// their components.
    void operator()(DeviceSpan<const std::byte> compressed, SymbolSpan elements, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
};

}  // namespace phy::gpu
