#pragma once

#include "phy/compression/block_float.hpp"
#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"

namespace phy::gpu {

/// Decompresses resource blocks in device memory. Output bytes are those of phy::BlockFloatDecompressor.
///
/// A call starts a kernel on the caller's stream. It returns at once, does not allocate or wait, and can be
/// captured in a graph. Both arrays must be accessible to the device, must not overlap, and must stay valid
/// until the work is done. Compressed bytes may have any alignment; both arrays at multiples of 16 bytes are
/// fastest. Immutable, so many threads may use one decompressor.
class PHY_EXPORT BlockFloatDecompressor {
public:
    using Config = BlockFloatConfig;

    /// Throws ArgumentError as phy::BlockFloatDecompressor does.
    BlockFloatDecompressor(const Device& device, const Config& config);

    /// As in phy::BlockFloatDecompressor, on a stream of the device. Elements are aligned to their
    /// components.
    void operator()(DeviceSpan<const std::byte> compressed, SymbolSpan elements, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
};

}  // namespace phy::gpu
