#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/measure/symbol_meter.hpp"

namespace phy::gpu {

/// Sums over symbols in device memory. Writes the bytes of phy::SymbolMeter.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Symbols, points, sums and workspace must be in memory that the device can
/// reach, must not overlap, and must stay there until the work is done. Any alignment of symbols is valid. If
/// they do not begin at a multiple of their size, a call can take several times as long. Thread-safe.
class PHY_EXPORT SymbolMeter {
public:
    using Config = SymbolMeterConfig;

    /// Throws ArgumentError if a value is out of its range.
    SymbolMeter(const Device& device, const Config& config);

    /// Returns the bytes of workspace that a call with this many symbols and this row length needs; 0 if
    /// rows are short.
    [[nodiscard]] static std::size_t workspace_bytes(std::size_t symbols, std::size_t row);

    /// As in phy::SymbolMeter, on the stream, which must belong to the device. Throws ArgumentError also if
    /// the workspace is smaller than workspace_bytes(), or does not begin at a multiple of 256 bytes, as
    /// every DeviceBuffer does.
    void operator()(SymbolView symbols, std::size_t row, DeviceSpan<SymbolSums> sums,
                    DeviceSpan<std::byte> workspace, cudaStream_t stream,
                    std::uint64_t first_symbol = 0) const;

    /// Measures against the sent points.
    void operator()(SymbolView symbols, DeviceSpan<const cf32> sent, std::size_t row,
                    DeviceSpan<SymbolSums> sums, DeviceSpan<std::byte> workspace, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
};

}  // namespace phy::gpu
