#pragma once

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy::gpu {

/// Baseband samples in device memory to resource elements, with the same bytes as phy::OfdmDemodulator.
///
/// A call starts a kernel on the caller's stream and returns at once: it allocates nothing, does not wait,
/// and can be captured in a graph, which keeps the numbers of the slots. Samples may lie at any address;
/// aligned to their size they are fastest. Both arrays must be in memory that the device can reach, must not
/// overlap, and must stay valid, like the demodulator, until the work is done. Thread-safe.
class PHY_EXPORT OfdmDemodulator {
public:
    using Config = OfdmDemodulatorConfig;

    /// Throws as phy::OfdmDemodulator does, and CudaError if there is not enough memory.
    OfdmDemodulator(const Device& device, const Config& config);
    ~OfdmDemodulator();
    OfdmDemodulator(OfdmDemodulator&&) noexcept;
    OfdmDemodulator& operator=(OfdmDemodulator&&) noexcept;

    /// As in phy::OfdmDemodulator, on a stream of the device.
    void operator()(SymbolView samples, const OfdmSlots& slots, DeviceSpan<cf32> grid,
                    cudaStream_t stream) const;

    [[nodiscard]] const OfdmTiming& timing() const;
    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::OfdmDemodulator"> impl_;
};

}  // namespace phy::gpu
