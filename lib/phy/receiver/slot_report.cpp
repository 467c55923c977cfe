#include <cmath>
#include <limits>

#include "phy/numerics/elementary.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy {

SymbolSums without_erased(const ReceivedSlot& received) {
    // An erased symbol is 0, as far from the nearest points as they are from 0: its |w - d|^2 and |d|^2 are
    // both 1/2, in units of the distance between levels.
    const double erased = 0.5 * static_cast<double>(received.erasures);
    SymbolSums sums = received.symbols;
    sums.error -= erased;
    sums.decided -= erased;
    sums.symbols -= received.erasures;
    return sums;
}

SlotReport slot_report(const ReceivedSlot& received, const ReceiverConfig& config, std::uint64_t slot) {
    const SlotEstimate& estimate = received.estimate;
    const SymbolSums sums = without_erased(received);
    const double power =
        static_cast<double>(config.link.allocation.layers()) * static_cast<double>(estimate.channel_power);
    return {.slot = slot,
            .snr_db = detail::elementary::decibels(power / static_cast<double>(estimate.noise_variance)),
            .noise_variance = static_cast<double>(estimate.noise_variance),
            .evm = sums.symbols > 0 ? std::sqrt(sums.error / sums.decided)
                                    : std::numeric_limits<double>::quiet_NaN(),
            .timing_offset = static_cast<double>(estimate.timing_offset),
            .frequency_offset = static_cast<double>(estimate.frequency_offset),
            .coherence = static_cast<double>(estimate.coherence),
            .erasures = received.erasures};
}

}  // namespace phy
