#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/detector/detector.hpp"
#include "phy/equalizer/equalizer_cuda.hpp"

namespace phy::gpu {

/// Equalises, demaps and descrambles in device memory. The bytes are those of phy::SoftDetector. int8 by
/// max-log after MMSE comes from one kernel, in which symbols stay in registers; other formats, log-MAP and
/// zero forcing from an Equalizer and a SoftDemapper one after the other, for which the caller gives the
/// memory in between. Calls, memory and threads as in gpu::Equalizer; it is fastest where llr begins at a
/// multiple of 16 bytes.
class PHY_EXPORT SoftDetector {
public:
    using Config = SoftDetectorConfig;

    /// Throws ArgumentError if a value is out of its range, CudaError if there is not enough memory.
    SoftDetector(const Device& device, const Config& config);
    ~SoftDetector();
    SoftDetector(SoftDetector&&) noexcept;
    SoftDetector& operator=(SoftDetector&&) noexcept;

    /// As in phy::SoftDetector.
    [[nodiscard]] std::size_t soft_bits_per_slot() const;
    [[nodiscard]] std::size_t sign_words_per_slot() const { return (soft_bits_per_slot() + 31) / 32; }

    /// Floats of workspace that a call with so many slots needs.
    [[nodiscard]] std::size_t workspace_size(std::size_t slots, SoftBitFormat format,
                                             bool with_covariance = false) const;

    /// As in phy::SoftDetector, on the stream, which belongs to the device. Throws ArgumentError too for a
    /// workspace that is too small or does not begin at a multiple of 16 bytes, a grid that is not aligned to
    /// its samples, and more than 65535 slots.
    void operator()(SymbolView grid, DeviceSpan<const float> channel, DeviceSpan<const SlotEstimate> slots,
                    SoftBitSpan llr, cudaStream_t stream, DeviceSpan<const std::uint32_t> signs = {},
                    DeviceSpan<const cf32> covariance = {}, DeviceSpan<float> workspace = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::SoftDetector"> impl_;
};

}  // namespace phy::gpu
