#pragma once

#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy {

/// Baseband samples to resource elements. The demodulator removes cyclic prefixes, transforms, compensates
/// phases (TS 38.211 clauses 5.3.1 and 5.4; see OfdmConfig) and keeps the carrier's subcarriers.
///
/// The FFT has the kernel exp(-j 2 pi k n / N) and no factor. Its arithmetic is binary32 in a fixed order, so
/// every backend, number of threads and way to cut a capture into calls gives the same bytes. Relative to the
/// rms of the output, the rms error of the FFT is at most 3e-8 log2(N), and that of the phases 2e-7.
///
/// A component of the output that is not finite is the NaN 0x7FC00000. A non-finite sample spoils one symbol
/// of one antenna and nothing else.
///
/// Not thread-safe: one call at a time. The threads of the host share a call.
class PHY_EXPORT OfdmDemodulator {
public:
    using Config = OfdmDemodulatorConfig;

    /// Throws ArgumentError as OfdmTiming does, and if antennas, center_frequency, frequency_shift,
    /// window_offset or full_scale is out of its range.
    OfdmDemodulator(const Host& host, const Config& config);

    /// samples: (antennas, samples). Sample 0 is the first of the first slot; samples after the last slot are
    /// ignored. With OfdmSlots::slot_stride: (slots, antennas, samples), where samples after the end of a
    /// slot are ignored. grid: (slots, antennas, symbols, subcarriers). Throws ArgumentError if sizes do not
    /// fit. Allocates nothing.
    void operator()(SymbolView samples, const OfdmSlots& slots, std::span<cf32> grid);

    [[nodiscard]] const OfdmTiming& timing() const;
    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "OfdmDemodulator"> impl_;
};

}  // namespace phy

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
