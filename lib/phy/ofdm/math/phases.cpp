#include "phy/ofdm/math/phases.hpp"

#include <cmath>

#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

cf32 rounded_turn(double turns) {
    return cf32(elementary::turn(turns));
}

/// Modulo 1, in units of 2^-64.
std::uint64_t fraction_of(long double turns) {
    const long double scaled = std::roundl(std::ldexp(std::fabs(turns), 64));
    const auto magnitude = static_cast<std::uint64_t>(scaled);
    return turns < 0 ? 0 - magnitude : magnitude;
}

}  // namespace

PhaseTables::PhaseTables(const OfdmConfig& config, const OfdmTiming& timing, Side side) {
    const double sign = side == Side::receiver ? 1.0 : -1.0;
    // Remainders and products of whole numbers of hertz and samples are exact.
    const double frequency = std::fmod(config.center_frequency, config.sample_rate);
    for (std::size_t slot = 0; slot < timing.slots_per_subframe(); ++slot) {
        for (std::size_t symbol = 0; symbol < timing.symbols(); ++symbol) {
            const auto start = timing.slot_start(slot) + timing.symbol_start(slot, symbol) +
                               timing.prefix_samples(slot, symbol);
            const double cycles = std::fmod(frequency * static_cast<double>(start), config.sample_rate);
            compensation_.push_back(rounded_turn(sign * (cycles / config.sample_rate)));
        }
    }
    const long double turns_of_sample =
        static_cast<long double>(config.frequency_shift) / static_cast<long double>(config.sample_rate);
    symbols_.increment = fraction_of(turns_of_sample * static_cast<long double>(sign));
    if (shifts()) {
        constexpr int levels[] = {phase_bits, 2 * phase_bits};
        for (const int level : levels)
            for (int i = 0; i < 1 << phase_bits; ++i)
                turns_.push_back(rounded_turn(std::ldexp(i, -level)));
    }
    symbols_.compensation = compensation_.data();
    symbols_.turns = turns_.data();
}

void PhaseTables::append_rotation(std::int64_t first, std::size_t count, std::vector<cf32>& rotation) const {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t phase = symbols_.increment * (static_cast<std::uint64_t>(first) + i);
        rotation.push_back(rounded_turn(std::ldexp(static_cast<double>(phase), -64)));
    }
}

std::vector<cf32> receiver_rotation(std::size_t window_offset, const OfdmTiming& timing,
                                    const PhaseTables& phases) {
    std::vector<cf32> rotation;
    if (!phases.shifts()) return rotation;
    phases.append_rotation(0, timing.fft_size() - window_offset, rotation);
    phases.append_rotation(-static_cast<std::int64_t>(window_offset), window_offset, rotation);
    return rotation;
}

}  // namespace phy::detail
