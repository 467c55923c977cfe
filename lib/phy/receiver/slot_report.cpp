#include <cmath>
#include <limits>

#include "phy/receiver/receiver.hpp"

namespace phy {

SlotReport slot_report(const ReceivedSlot& received, const ReceiverConfig& config, std::uint64_t slot) {
    const SlotEstimate& estimate = received.estimate;
    const SymbolSums& sums = received.symbols;
    // An erased symbol is 0, which is as far from the points around it as they are from 0: its |w - d|^2 and
    // |d|^2 are both 1/2 in units of the distance between levels.
    const double erased = 0.5 * static_cast<double>(received.erasures);
    const double error = sums.error - erased;
    const double decided = sums.decided - erased;
    const bool has_symbols = received.erasures < sums.symbols;
    const double power =
        static_cast<double>(config.link.allocation.layers()) * static_cast<double>(estimate.channel_power);
    return {.slot = slot,
            .snr_db = 10.0 * std::log10(power / static_cast<double>(estimate.noise_variance)),
            .noise_variance = static_cast<double>(estimate.noise_variance),
            .evm = has_symbols ? std::sqrt(error / decided) : std::numeric_limits<double>::quiet_NaN(),
            .timing_offset = static_cast<double>(estimate.timing_offset),
            .frequency_offset = static_cast<double>(estimate.frequency_offset),
            .coherence = static_cast<double>(estimate.coherence),
            .erasures = received.erasures};
}

}  // namespace phy
