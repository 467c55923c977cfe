#pragma once

#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy {

/// Baseband samples to resource elements: takes prefixes off, transforms, turns phases back (TS 38.211
/// clauses 5.3.1 and 5.4; see OfdmConfig) and keeps the carrier's subcarriers. The FFT has the kernel
/// exp(-j 2 pi k n / N) and no factor. It is phy's own, in binary32 with a fixed order of operations, so
/// every backend, number of threads and way to cut a capture into calls gives the same bytes. Relative to the
/// output's rms, the rms of its error is at most 3e-8 log2(N), and that of turning phases 2e-7. An element
/// of which a component is not finite has the NaN 0x7FC00000 there: a sample that is not finite spoils the
/// symbol of its antenna and nothing else.
///
/// The threads of the host share a call. One call at a time on one demodulator.
class PHY_EXPORT OfdmDemodulator {
public:
    using Config = OfdmConfig;

    /// Throws ArgumentError as OfdmTiming does, and if antennas, frequencies, window_offset or full_scale are
    /// out of their range.
    OfdmDemodulator(const Host& host, const Config& config);
    ~OfdmDemodulator();
    OfdmDemodulator(OfdmDemodulator&&) noexcept;
    OfdmDemodulator& operator=(OfdmDemodulator&&) noexcept;

    /// samples: (antennas, samples) of whole slots, the first of which begins with the first sample; after
    /// the slots an antenna may have more. With OfdmSlots::slot_stride: (slots, antennas, samples), where an
    /// antenna may have more after its slot. grid: (slots, antennas, symbols, subcarriers). Throws
    /// ArgumentError if sizes do not fit. Allocates nothing.
    void operator()(SymbolView samples, const OfdmSlots& slots, std::span<cf32> grid);

    [[nodiscard]] const OfdmTiming& timing() const;
    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "OfdmDemodulator"> impl_;
};

}  // namespace phy
