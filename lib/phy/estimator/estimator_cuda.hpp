#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/estimator/estimator.hpp"

namespace phy::gpu {

/// Estimates channel coefficients from pilots in device memory. Writes the bytes of phy::ChannelEstimator.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Measured values stay on the device. All arrays must be in memory that the
/// device can reach, must not overlap, and must stay there until the work is done. An estimator has one
/// workspace: its calls must not run on several streams at once.
class PHY_EXPORT ChannelEstimator {
public:
    using Config = phy::ChannelEstimatorConfig;

    /// max_slots is the max number of slots per call, from 1 to 65535; the workspace grows with it. Throws
    /// what phy::ChannelEstimator throws, ArgumentError if max_slots is out of its range, CudaError if there
    /// is not enough memory.
    ChannelEstimator(const Device& device, const Config& config, std::size_t max_slots);
    ~ChannelEstimator();
    ChannelEstimator(ChannelEstimator&&) noexcept;
    ChannelEstimator& operator=(ChannelEstimator&&) noexcept;

    /// As in phy::ChannelEstimator.
    [[nodiscard]] int estimates() const;
    [[nodiscard]] std::size_t channel_size() const;
    [[nodiscard]] std::span<const float> time_weights() const;

    /// As in phy::ChannelEstimator, on the stream, which must belong to the device. Throws ArgumentError also
    /// for more than max_slots slots.
    void operator()(SymbolView grid, DeviceSpan<const cf32> pilots, DeviceSpan<float> channel,
                    DeviceSpan<SlotEstimate> slots, cudaStream_t stream,
                    DeviceSpan<cf32> covariance = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;
    [[nodiscard]] std::size_t max_slots() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::ChannelEstimator"> impl_;
};

}  // namespace phy::gpu
