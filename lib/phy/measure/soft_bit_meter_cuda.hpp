#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/measure/soft_bit_meter.hpp"

namespace phy::gpu {

/// Sums over soft bits in device memory. Writes the bytes of phy::SoftBitMeter.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Soft bits, transmitted bits, sums and workspace must be in memory that the
/// device can reach, must not overlap, and must stay there until the work is done. Any alignment is valid.
/// Fastest for float16 and float32: rows that begin at addresses that are multiples of 4 soft bits. Fastest
/// for int8: soft bits and transmitted bits at addresses that are equal modulo 16. Thread-safe.
class PHY_EXPORT SoftBitMeter {
public:
    using Config = SoftBitMeterConfig;

    /// Throws ArgumentError if a value is out of its range.
    SoftBitMeter(const Device& device, const Config& config);

    /// Returns the bytes of workspace that a call with this many soft bits and this row length needs; 0 if
    /// rows are short.
    [[nodiscard]] static std::size_t workspace_bytes(std::size_t soft_bits, std::size_t row);

    /// As in phy::SoftBitMeter, on the stream, which must belong to the device. Throws ArgumentError also if
    /// the workspace is smaller than workspace_bytes(), or does not begin at a multiple of 256 bytes, as
    /// every DeviceBuffer does.
    void operator()(SoftBitView soft_bits, std::size_t row, DeviceSpan<SoftBitSums> sums,
                    DeviceSpan<std::byte> workspace, cudaStream_t stream) const;

    /// The same, and compares soft bits with transmitted bits.
    void operator()(SoftBitView soft_bits, DeviceSpan<const std::uint8_t> truth, std::size_t row,
                    DeviceSpan<SoftBitSums> sums, DeviceSpan<std::byte> workspace, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
};

}  // namespace phy::gpu
