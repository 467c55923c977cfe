#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/estimator/estimator.hpp"

namespace phy::gpu {

/// Pilots in device memory to channel coefficients there. The bytes are those of phy::ChannelEstimator.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. What is measured in a slot is used on the device. All arrays are in memory
/// that the device can reach, and stay there until the work is done; they do not overlap. An estimator has
/// one workspace: its calls must not run on several streams at a time.
class PHY_EXPORT ChannelEstimator {
public:
    using Config = phy::ChannelEstimatorConfig;

    /// Throws ArgumentError as phy::ChannelEstimator does, or unless max_slots is from 1 to 65535, and
    /// CudaError if there is not enough memory. max_slots is how many slots a call may have; the workspace
    /// grows with it.
    ChannelEstimator(const Device& device, const Config& config, std::size_t max_slots);
    ~ChannelEstimator();
    ChannelEstimator(ChannelEstimator&&) noexcept;
    ChannelEstimator& operator=(ChannelEstimator&&) noexcept;

    /// As in phy::ChannelEstimator.
    [[nodiscard]] int estimates() const;
    [[nodiscard]] std::size_t channel_size() const;
    [[nodiscard]] std::span<const float> time_weights() const;

    /// As in phy::ChannelEstimator, on the stream, which belongs to the device. Throws ArgumentError, too,
    /// for more slots than max_slots.
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
