#pragma once

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy::gpu {

/// Baseband samples in device memory to resource elements. The bytes are those of phy::OfdmDemodulator.
///
/// A call only starts a kernel on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph, which keeps the numbers of the slots. Samples may lie at any address; it
/// is fastest where they are aligned to their size. Both arrays are in memory that the device can reach, and
/// stay there, as does the demodulator, until the work is done; they do not overlap. One demodulator may be
/// used from many threads.
class PHY_EXPORT OfdmDemodulator {
public:
    using Config = OfdmConfig;

    /// Throws as phy::OfdmDemodulator does, and CudaError if there is not enough memory.
    OfdmDemodulator(const Device& device, const Config& config);
    ~OfdmDemodulator();
    OfdmDemodulator(OfdmDemodulator&&) noexcept;
    OfdmDemodulator& operator=(OfdmDemodulator&&) noexcept;

    /// As in phy::OfdmDemodulator, on the stream, which belongs to the device.
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
