#pragma once

#include <cstddef>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/equalizer/equalizer.hpp"

namespace phy::gpu {

/// Received resource elements and channel coefficients in device memory to symbols and their noise variance.
/// The bytes are those of phy::Equalizer, which says what is computed and what is erased.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. All arrays are in memory that the device can reach, do not overlap, and
/// stay there until the work is done. Values in them are not looked at before: a noise_variance that is not
/// positive erases its slot. The grid must be aligned to its samples; it is fastest where symbols and
/// noise_variance begin at multiples of 16 bytes. Several threads may call one equaliser at once.
class PHY_EXPORT Equalizer {
public:
    using Config = EqualizerConfig;

    /// Puts the map of the allocation on the device. Throws ArgumentError if a value is out of its range,
    /// CudaError if there is not enough memory.
    Equalizer(const Device& device, const Config& config);
    ~Equalizer();
    Equalizer(Equalizer&&) noexcept;
    Equalizer& operator=(Equalizer&&) noexcept;

    /// As in phy::Equalizer.
    [[nodiscard]] std::size_t elements_per_slot() const;
    [[nodiscard]] std::size_t symbols_per_slot() const;
    [[nodiscard]] int estimates() const;

    /// Floats of workspace that a call with so many slots needs if it has a covariance; else it needs none.
    [[nodiscard]] std::size_t workspace_size(std::size_t slots) const;

    /// As in phy::Equalizer, on the stream, which belongs to the device. Throws ArgumentError too for a
    /// workspace that is too small, a grid that is not aligned, and more than 65535 slots.
    void operator()(SymbolView grid, DeviceSpan<const float> channel, DeviceSpan<const SlotEstimate> slots,
                    DeviceSpan<cf32> symbols, DeviceSpan<float> noise_variance, cudaStream_t stream,
                    DeviceSpan<const cf32> covariance = {}, DeviceSpan<float> workspace = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::Equalizer"> impl_;
};

}  // namespace phy::gpu
