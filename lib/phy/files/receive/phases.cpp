#include "phy/files/receive/phases.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

/// Of an OFDM symbol: its phase beyond that of a DM-RS symbol and the slot's frequency offset. 0 if it is
/// erased.
double phase_error(const SlotEstimate& estimate, int symbol, int dmrs, double symbol_seconds) {
    const auto phase_of = [&](int l) {
        return std::complex<double>(estimate.phase[static_cast<std::size_t>(l)]);
    };
    const double turns = static_cast<double>(estimate.frequency_offset) * symbol_seconds * (symbol - dmrs);
    const std::complex<double> error =
        phase_of(symbol) * std::conj(phase_of(dmrs)) * elementary::phasor(-2.0 * std::numbers::pi * turns);
    return std::isfinite(error.real()) && std::isfinite(error.imag()) ? elementary::angle_of(error) : 0.0;
}

}  // namespace

std::array<double, symbols_per_slot> mean_phase_errors(const Reception& result,
                                                       std::span<const ReceivedSlot> received) {
    constexpr double with_prefix = 1.0 + 144.0 / 2048.0;
    const SlotAllocation& allocation = result.link.allocation;
    const std::vector<int>& dmrs = allocation.dmrs.symbols;
    const double symbol_seconds = with_prefix / result.link.carrier.subcarrier_spacing;
    const double least = min_coherence(allocation);
    std::array<double, symbols_per_slot> mean = {};
    double slots = 0.0;
    for (std::size_t i = 0; i < received.size(); ++i) {
        if (!(result.reports[i].coherence >= least)) continue;
        slots += 1.0;
        if (!(result.reports[i].phase_error > 0.0)) continue;
        for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l)
            if (std::ranges::find(dmrs, l) == dmrs.end())
                mean[static_cast<std::size_t>(l)] +=
                    phase_error(received[i].estimate, l, dmrs.front(), symbol_seconds);
    }
    for (double& phase : mean)
        phase /= std::max(slots, 1.0);
    return mean;
}

}  // namespace phy::detail
