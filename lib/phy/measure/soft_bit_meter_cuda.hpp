#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/measure/soft_bit_meter.hpp"

namespace phy::gpu {

/// Sums over soft bits in device memory. The bytes are those of phy::SoftBitMeter.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Soft bits, transmitted bits, sums and workspace are in memory that the
/// device can reach, do not overlap, and stay there until the work is done. Any alignment will do. It is
/// fastest where a row of float16 or float32 begins at a multiple of 4 soft bits from such an address, and
/// where soft bits of int8 and transmitted bits are equally far behind a multiple of 16. Immutable, so one
/// meter may be used from many threads.
class PHY_EXPORT SoftBitMeter {
public:
    using Config = SoftBitMeterConfig;

    /// Throws ArgumentError if a value is out of its range.
    SoftBitMeter(const Device& device, const Config& config);

    /// Elements of the workspace that a call with so many soft bits in rows of that length needs: 0 where a
    /// row is short.
    [[nodiscard]] static std::size_t workspace_size(std::size_t soft_bits, std::size_t row);

    /// As in phy::SoftBitMeter, on the stream, which belongs to the device. Throws ArgumentError too where
    /// the workspace is smaller than workspace_size().
    void operator()(SoftBitView soft_bits, std::size_t row, DeviceSpan<SoftBitSums> sums,
                    DeviceSpan<SoftBitSums> workspace, cudaStream_t stream) const;

    /// The same, compared with transmitted bits.
    void operator()(SoftBitView soft_bits, DeviceSpan<const std::uint8_t> truth, std::size_t row,
                    DeviceSpan<SoftBitSums> sums, DeviceSpan<SoftBitSums> workspace,
                    cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
};

}  // namespace phy::gpu
