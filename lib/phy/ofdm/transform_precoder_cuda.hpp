#pragma once

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/ofdm/transform_precoder.hpp"

namespace phy::gpu {

/// Transform precoding in device memory, with the same bytes as phy::TransformPrecoder.
///
/// A call starts a kernel on the caller's stream and returns at once: it allocates nothing, does not wait,
/// and can be captured in a graph. Both arrays must be in memory that the device can reach and must stay
/// valid, like the precoder, until the work is done. Thread-safe.
class PHY_EXPORT TransformPrecoder {
public:
    using Config = TransformPrecoderConfig;

    /// Throws as phy::TransformPrecoder does, and CudaError if there is not enough memory.
    TransformPrecoder(const Device& device, const Config& config);
    ~TransformPrecoder();
    TransformPrecoder(TransformPrecoder&&) noexcept;
    TransformPrecoder& operator=(TransformPrecoder&&) noexcept;

    /// As in phy::TransformPrecoder, on a stream of the device.
    void operator()(DeviceSpan<const cf32> in, DeviceSpan<cf32> out, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::TransformPrecoder"> impl_;
};

}  // namespace phy::gpu
