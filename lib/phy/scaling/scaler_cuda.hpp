#pragma once

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/scaling/scaler.hpp"

namespace phy::gpu {

/// Divides symbols in device memory by the amplitude of their constellation. The bytes are those of
/// phy::SymbolScaler.
///
/// A call only starts a kernel on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Any length and any alignment of symbols will do; it is fastest where they
/// lie at a multiple of 16 bytes. Both arrays are in memory that the device can reach, and stay there until
/// the work is done; they are one array or do not overlap. Immutable, so one scaler may be used from many
/// threads.
class PHY_EXPORT SymbolScaler {
public:
    using Config = phy::SymbolScaler::Config;

    /// Throws ArgumentError as phy::SymbolScaler does.
    SymbolScaler(const Device& device, const Config& config);

    /// As in phy::SymbolScaler, on the stream, which belongs to the device.
    void operator()(SymbolView symbols, DeviceSpan<cf32> scaled, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
    int multiprocessors_ = 0;
};

}  // namespace phy::gpu
