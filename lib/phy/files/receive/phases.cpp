#include "phy/files/receive/phases.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "phy/files/receive/acquire.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

constexpr std::uint64_t most_slots = 64;

/// Smaller rotations are rounding errors, of OFDM symbols that were not measured.
constexpr double min_rotation = 1e-4;

/// Fewer rotations say nothing about their mean.
constexpr double min_rotations = 8.0;

/// The square of the mean of n independent rotations, over their mean square, is 1 / n on average. It is
/// hardly ever this many times as large.
constexpr double max_share = 12.0;

/// The DM-RS symbol that an OFDM symbol's phase is followed from.
int nearest(const std::vector<int>& dmrs, int symbol) {
    return *std::ranges::min_element(dmrs, {}, [&](int l) { return std::abs(l - symbol); });
}

/// Sums over sines of rotations from one OFDM symbol to the next in time, beyond the frequency offset of a
/// slot.
struct Rotations {
    double count = 0.0;
    double sum = 0.0;
    double squares = 0.0;

    void add(const SlotEstimate& estimate, int symbol, int before, double turns_of_frequency) {
        const auto phase_of = [&](int l) {
            return std::complex<double>(estimate.phase[static_cast<std::size_t>(l)]);
        };
        const double direction = symbol - before;
        const std::complex<double> step = phase_of(symbol) * std::conj(phase_of(before)) *
                                          elementary::turn(-turns_of_frequency * direction);
        const double sine = direction * step.imag();
        if (!(std::fabs(sine) > min_rotation)) return;
        count += 1.0;
        sum += sine;
        squares += sine * sine;
    }
};

}  // namespace

bool is_oscillator(const Reception& result, std::span<const ReceivedSlot> received) {
    constexpr double with_prefix = 1.0 + 144.0 / 2048.0;
    const SlotAllocation& allocation = result.link.allocation;
    const std::vector<int>& dmrs = allocation.dmrs.symbols;
    const double symbol_seconds = with_prefix / result.link.carrier.subcarrier_spacing;
    Rotations rotations;
    for (std::size_t i = 0; i < received.size(); ++i) {
        const SlotEstimate& estimate = received[i].estimate;
        if (!(estimate.phase_error > 0.0F)) continue;
        const double turns_of_frequency = static_cast<double>(estimate.frequency_offset) * symbol_seconds;
        for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l) {
            const int from = nearest(dmrs, l);
            if (l != from) rotations.add(estimate, l, l + (from > l ? 1 : -1), turns_of_frequency);
        }
    }
    if (rotations.count == 0.0) return true;
    return rotations.count >= min_rotations && rotations.sum * rotations.sum < max_share * rotations.squares;
}

Reception without_tracking(const Reception& result, const Host& host, const ReceiverConfig& config,
                           CaptureSlots& slots) {
    Reception plain = result;
    plain.slots = std::min(most_slots, result.slots);
    plain.reports.clear();
    plain.symbols.clear();
    Receiver receive(host, config);
    std::vector<std::byte> input(slots.bytes_per_slot());
    for (std::uint64_t i = 0; i < plain.slots; ++i) {
        SlotReport report = result.reports[i * result.slots / plain.slots];
        const std::uint64_t occasion = slots.occasion_from(report.slot);
        ReceivedSlot slot;
        slots.read(occasion, 1, input);
        receive(SymbolView(slots.format(), input), occasion, {.slots = std::span(&slot, 1)});
        const SlotReport of_symbols = slot_report(slot, config, 0);
        report.evm = of_symbols.evm;
        report.error_over_noise_db = of_symbols.error_over_noise_db;
        report.clear_symbols = of_symbols.clear_symbols;
        plain.reports.push_back(report);
        plain.symbols.push_back(slot.symbols);
    }
    plain.mean = mean_of(plain.reports, min_coherence(result.link.allocation));
    return plain;
}

}  // namespace phy::detail
