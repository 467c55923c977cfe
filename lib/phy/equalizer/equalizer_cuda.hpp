#pragma once

#include <cstddef>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/equalizer/equalizer.hpp"

namespace phy::gpu {

/// Turns received resource elements and channel coefficients in device memory into symbols with a noise
/// variance. Writes the bytes of phy::Equalizer, which documents the arithmetic and the erasures.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. All arrays must be in memory that the device can reach, must not overlap,
/// and must stay there until the work is done. Values are not checked before: a noise_variance that is not
/// positive erases its slot. The grid must be aligned to its samples. Fastest if symbols and noise_variance
/// begin at multiples of 16 bytes. Thread-safe.
class PHY_EXPORT Equalizer {
public:
    using Config = EqualizerConfig;

    /// Copies the map of the allocation to the device. Throws ArgumentError if a value is out of its range,
    /// CudaError if there is not enough memory.
    Equalizer(const Device& device, const Config& config);
    ~Equalizer();
    Equalizer(Equalizer&&) noexcept;
    Equalizer& operator=(Equalizer&&) noexcept;

    /// As in phy::Equalizer.
    [[nodiscard]] std::size_t elements_per_slot() const;
    [[nodiscard]] std::size_t symbols_per_slot() const;
    [[nodiscard]] int estimates() const;

    /// Returns the bytes of workspace that a call with this many slots and a covariance needs. Calls without
    /// a covariance need none.
    [[nodiscard]] std::size_t workspace_bytes(std::size_t slots) const;

    /// As in phy::Equalizer, on the stream, which must belong to the device. Throws ArgumentError also if the
    /// workspace is too small or does not begin at a multiple of 256 bytes, as every DeviceBuffer does, if
    /// the grid is not aligned, and for more than 65535 slots.
    void operator()(SymbolView grid, DeviceSpan<const float> channel, DeviceSpan<const SlotEstimate> slots,
                    DeviceSpan<cf32> symbols, DeviceSpan<float> noise_variance, cudaStream_t stream,
                    DeviceSpan<const cf32> covariance = {}, DeviceSpan<std::byte> workspace = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::Equalizer"> impl_;
};

}  // namespace phy::gpu
