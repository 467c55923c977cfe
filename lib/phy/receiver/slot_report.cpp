#include <cmath>
#include <limits>

#include "phy/numerics/elementary.hpp"
#include "phy/receiver/slot_symbols.hpp"

namespace phy {

SlotReport slot_report(const ReceivedSlot& received, const ReceiverConfig& config, std::uint64_t slot) {
    const SlotEstimate& estimate = received.estimate;
    const SymbolSums sums = detail::without_erased(received);
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
