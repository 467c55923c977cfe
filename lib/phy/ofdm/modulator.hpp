#pragma once

#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy {

/// Resource elements to baseband samples, for tests and simulators: the inverse of OfdmDemodulator, with the
/// factor 1/N. Every backend, number of threads and way to cut the slots into calls gives the same bytes. A
/// component of the output that is not finite is the NaN 0x7FC00000.
///
/// Not thread-safe: one call at a time. The threads of the host share a call.
class PHY_EXPORT OfdmModulator {
public:
    using Config = OfdmConfig;

    /// Throws ArgumentError as OfdmTiming does, and if antennas, center_frequency or frequency_shift is out
    /// of its range.
    OfdmModulator(const Host& host, const Config& config);

    /// grid: (slots, antennas, symbols, subcarriers). samples: (antennas, samples), or with a slot_stride
    /// (slots, antennas, samples). Only samples of the slots are written. Throws ArgumentError if sizes do
    /// not fit. Allocates nothing.
    void operator()(std::span<const cf32> grid, const OfdmSlots& slots, std::span<cf32> samples);

    [[nodiscard]] const OfdmTiming& timing() const;
    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "OfdmModulator"> impl_;
};

}  // namespace phy
