#pragma once

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"

namespace phy::gpu {

/// Undoes transform precoding in device memory, with the same bytes as phy::TransformDeprecoder.
///
/// A call starts kernels on the caller's stream and returns at once: it allocates nothing, does not wait, and
/// can be captured in a graph. Both arrays must be in memory that the device can reach and must stay valid,
/// like the deprecoder, until the work is done. Thread-safe.
class PHY_EXPORT TransformDeprecoder {
public:
    using Config = TransformDeprecoderConfig;

    /// Throws as phy::TransformDeprecoder does, and CudaError if there is not enough memory.
    TransformDeprecoder(const Device& device, const Config& config);
    ~TransformDeprecoder();
    TransformDeprecoder(TransformDeprecoder&&) noexcept;
    TransformDeprecoder& operator=(TransformDeprecoder&&) noexcept;

    /// As in phy::TransformDeprecoder, on a stream of the device.
    void operator()(DeviceSpan<cf32> symbols, DeviceSpan<float> noise_variance, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::TransformDeprecoder"> impl_;
};

}  // namespace phy::gpu
