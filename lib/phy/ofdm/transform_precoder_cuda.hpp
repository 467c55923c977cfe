#pragma once

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/ofdm/transform_precoder.hpp"

namespace phy::gpu {

/// Transform precoding in device memory. The bytes are those of phy::TransformPrecoder.
///
/// A call only starts a kernel on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Both arrays are in memory that the device can reach, and stay there, as
/// does the precoder, until the work is done. One precoder may be used from many threads.
class PHY_EXPORT TransformPrecoder {
public:
    using Config = TransformPrecoderConfig;

    /// Throws as phy::TransformPrecoder does, and CudaError if there is not enough memory.
    TransformPrecoder(const Device& device, const Config& config);
    ~TransformPrecoder();
    TransformPrecoder(TransformPrecoder&&) noexcept;
    TransformPrecoder& operator=(TransformPrecoder&&) noexcept;

    /// As in phy::TransformPrecoder, on the stream, which belongs to the device.
    void operator()(DeviceSpan<const cf32> in, DeviceSpan<cf32> out, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::TransformPrecoder"> impl_;
};

}  // namespace phy::gpu
