#pragma once

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"

namespace phy::gpu {

/// Undoes transform precoding in device memory. The bytes are those of phy::TransformDeprecoder.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Both arrays are in memory that the device can reach, and stay there, as
/// does the deprecoder, until the work is done. One deprecoder may be used from many threads.
class PHY_EXPORT TransformDeprecoder {
public:
    using Config = TransformDeprecoderConfig;

    /// Throws as phy::TransformDeprecoder does, and CudaError if there is not enough memory.
    TransformDeprecoder(const Device& device, const Config& config);
    ~TransformDeprecoder();
    TransformDeprecoder(TransformDeprecoder&&) noexcept;
    TransformDeprecoder& operator=(TransformDeprecoder&&) noexcept;

    /// As in phy::TransformDeprecoder, on the stream, which belongs to the device.
    void operator()(DeviceSpan<cf32> symbols, DeviceSpan<float> noise_variance, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::TransformDeprecoder"> impl_;
};

}  // namespace phy::gpu
