#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "demapper/signals.hpp"
#include "phy/core/constellation.hpp"
#include "phy/dmrs/ptrs.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/tracker/tracker.hpp"
#include "support/random_allocation.hpp"

/// Equalised slots with a phase on each OFDM symbol, and a reference in binary64 that is independent of the
/// library.
namespace phy_test {

using phy::cf32;
using phy::LayerPair;
using phy::PhaseTrackerConfig;
using phy::SlotEstimate;
using Complex = std::complex<double>;
using Phases = std::array<double, phy::symbols_per_slot>;

inline constexpr std::array all_tracked_modulations = {
    phy::Modulation::pi2_bpsk, phy::Modulation::bpsk,   phy::Modulation::qpsk,   phy::Modulation::qam16,
    phy::Modulation::qam64,    phy::Modulation::qam256, phy::Modulation::qam1024};

/// N0 at which decisions are nearly all right.
inline double clear_noise(phy::Modulation modulation) {
    const double unit = phy::axis_unit(modulation);
    return unit * unit / 10.0;
}

/// The OFDM symbol of each symbol of a slot's codeword, from the definition of the mapping.
inline std::vector<int> ofdm_symbol_of(const phy::SlotAllocation& allocation) {
    const phy::ResourceMap map(allocation);
    const auto carrier = static_cast<std::size_t>(allocation.carrier_resource_blocks);
    std::vector<int> of;
    for (std::size_t i = 0; i < map.entries().size(); ++i)
        for (unsigned k = 0; k < 12; ++k)
            if ((map.entries()[i].mask >> k & 1U) != 0)
                of.insert(of.end(), allocation.dmrs.ports.size(), static_cast<int>(i / carrier));
    return of;
}

inline bool has_dmrs(const phy::SlotAllocation& allocation, int symbol) {
    return std::ranges::find(allocation.dmrs.symbols, symbol) != allocation.dmrs.symbols.end();
}

/// A walk from each DM-RS symbol on, which has phase 0, to half-way to the next.
inline Phases random_walk(const phy::SlotAllocation& allocation, double step, std::mt19937& random) {
    std::normal_distribution<double> normal(0.0, step);
    Phases phases = {};
    const auto distance = [&](int l) {
        int least = phy::symbols_per_slot;
        for (const int from : allocation.dmrs.symbols)
            least = std::min(least, std::abs(l - from));
        return least;
    };
    for (int away = 1; away < phy::symbols_per_slot; ++away)
        for (int l = 0; l < phy::symbols_per_slot; ++l) {
            if (distance(l) != away) continue;
            const bool is_after = l > 0 && distance(l - 1) == away - 1;
            phases[static_cast<std::size_t>(l)] =
                phases[static_cast<std::size_t>(is_after ? l - 1 : l + 1)] + normal(random);
        }
    return phases;
}

struct TrackedSlots {
    std::vector<cf32> symbols;
    std::vector<float> noise_variance;
    std::vector<SlotEstimate> estimates;
    std::vector<LayerPair> pairs;
    std::vector<cf32> sent;
    std::vector<cf32> ptrs;  ///< equalised PT-RS, and what they repeat
    std::vector<float> ptrs_noise_variance;
    std::vector<cf32> pilots;

    friend bool operator==(const TrackedSlots&, const TrackedSlots&) = default;
};

/// PT-RS of a slot as random pilots have them; symbols of other layers are noise.
inline void add_random_ptrs(const phy::SlotAllocation& allocation, double noise_variance,
                            const Phases& phases, std::mt19937& random, TrackedSlots& slot) {
    const auto of_ptrs = allocation.ptrs ? ptrs_allocation(allocation) : std::nullopt;
    if (!of_ptrs) return;
    std::normal_distribution<double> normal(0.0, std::sqrt(0.5));
    slot.pilots.resize(dmrs_pilot_count(allocation));
    for (cf32& pilot : slot.pilots)
        pilot = phy::constellation_point(phy::Modulation::qpsk, static_cast<unsigned>(random()) % 4, 0);
    const std::vector<phy::PtrsPort> ports = ptrs_ports(allocation);
    const phy::ResourceMap map(*of_ptrs);
    const auto carrier = static_cast<std::size_t>(allocation.carrier_resource_blocks);
    for (int l = 0; l < phy::symbols_per_slot; ++l)
        for (const phy::ResourceBlocks& range : allocation.resource_blocks)
            for (int k = 12 * range.first; k < 12 * (range.first + range.count); ++k) {
                const auto entry = static_cast<std::size_t>(l) * carrier + static_cast<std::size_t>(k / 12);
                if ((map.entries()[entry].mask >> (k % 12) & 1U) == 0) continue;
                for (const int port : allocation.dmrs.ports) {
                    Complex sent = 0.0;
                    for (const phy::PtrsPort& its : ports)
                        for (std::size_t i = 0; its.port == port && i < its.subcarriers.size(); ++i)
                            if (its.subcarriers[i] == k)
                                sent = Complex(slot.pilots[static_cast<std::size_t>(its.pilots[i])]) *
                                       static_cast<double>(ptrs_amplitude(allocation, phy::Modulation::qpsk));
                    const Complex noise = std::sqrt(noise_variance) * Complex(normal(random), normal(random));
                    slot.ptrs.emplace_back(std::polar(1.0, phases[static_cast<std::size_t>(l)]) *
                                           (sent + noise));
                    slot.ptrs_noise_variance.push_back(static_cast<float>(noise_variance));
                }
            }
}

/// One slot. N0 varies from symbol to symbol by 6 dB to both sides.
inline TrackedSlots random_slot(const PhaseTrackerConfig& config, double noise_variance, const Phases& phases,
                                std::mt19937& random) {
    const std::vector<int> of = ofdm_symbol_of(config.allocation);
    std::normal_distribution<double> normal(0.0, std::sqrt(0.5));
    std::uniform_real_distribution<double> spread(-0.6, 0.6);
    TrackedSlots slot;
    slot.estimates.resize(1);
    for (std::size_t i = 0; i < of.size(); ++i) {
        const auto label = static_cast<unsigned>(random()) % (1U << bits_per_symbol(config.modulation));
        const cf32 point = phy::constellation_point(config.modulation, label, i);
        const double variance = noise_variance * std::pow(10.0, spread(random));
        const Complex noise = std::sqrt(variance) * Complex(normal(random), normal(random));
        slot.sent.push_back(point);
        slot.symbols.emplace_back(std::polar(1.0, phases[static_cast<std::size_t>(of[i])]) *
                                  (Complex(point) + noise));
        slot.noise_variance.push_back(static_cast<float>(variance));
    }
    if (config.allocation.layers() == 2)
        for (std::size_t i = 0; i + 1 < of.size(); i += 2)
            slot.pairs.push_back({.matched = {slot.symbols[i], 2.0F * slot.symbols[i + 1]},
                                  .power = {1.0F, 2.0F},
                                  .cross = {0.5F, -0.25F}});
    add_random_ptrs(config.allocation, noise_variance, phases, random, slot);
    return slot;
}

using Factors = std::array<double, phy::symbols_per_slot>;

/// Noise of OFDM symbols becomes so many times as large; noise variances do not say it.
inline void add_noise(const PhaseTrackerConfig& config, const Factors& factors, std::mt19937& random,
                      TrackedSlots& slot) {
    const std::vector<int> of = ofdm_symbol_of(config.allocation);
    std::normal_distribution<double> normal(0.0, std::sqrt(0.5));
    for (std::size_t i = 0; i < of.size(); ++i) {
        const double more = factors[static_cast<std::size_t>(of[i])] - 1.0;
        const double deviation = std::sqrt(more * static_cast<double>(slot.noise_variance[i]));
        slot.symbols[i] += cf32(deviation * Complex(normal(random), normal(random)));
    }
}

inline TrackedSlots joined(const std::vector<TrackedSlots>& slots) {
    TrackedSlots all;
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    for (const TrackedSlots& slot : slots) {
        append(all.symbols, slot.symbols);
        append(all.noise_variance, slot.noise_variance);
        append(all.estimates, slot.estimates);
        append(all.pairs, slot.pairs);
        append(all.sent, slot.sent);
        append(all.ptrs, slot.ptrs);
        append(all.ptrs_noise_variance, slot.ptrs_noise_variance);
        append(all.pilots, slot.pilots);
    }
    return all;
}

inline TrackedSlots tracked(const phy::Host& host, const PhaseTrackerConfig& config, TrackedSlots slots) {
    phy::PhaseTracker tracker(host, config);
    tracker(slots.symbols, slots.noise_variance, slots.estimates, slots.pairs,
            {slots.ptrs, slots.ptrs_noise_variance, slots.pilots});
    tracker.raise_noise(slots.estimates, slots.noise_variance, slots.pairs);
    return slots;
}

/// The floats of all outputs. Every NaN is the same one: only its place is defined.
inline std::vector<std::uint32_t> bits_of(const TrackedSlots& slots) {
    std::vector<std::uint32_t> bits;
    const auto append = [&](const auto& values) {
        const auto bytes = std::as_bytes(std::span(values));
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
            float x = 0.0F;
            std::memcpy(&x, bytes.data() + at, sizeof x);
            bits.push_back(std::isnan(x) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(x));
        }
    };
    append(slots.symbols);
    append(slots.noise_variance);
    append(slots.estimates);
    append(slots.pairs);
    return bits;
}

/// Slots of all kinds: at rest, turned, noisy, without a signal, and with numbers that are not finite.
inline TrackedSlots awkward_slots(const PhaseTrackerConfig& config, std::mt19937& random) {
    const double level = 0.02 / static_cast<double>(1U << bits_per_symbol(config.modulation));
    std::vector<TrackedSlots> slots;
    for (const double step : {0.0, 0.01, 0.1, 0.5})
        for (const double noise : {level, 30.0 * level, 1.0})
            slots.push_back(random_slot(config, noise, random_walk(config.allocation, step, random), random));
    for (const std::size_t noisy : {0U, 3U, 9U}) {
        Factors factors = {};
        for (double& factor : factors)
            factor = std::pow(10.0, random_int(random, 0, 3));
        add_noise(config, factors, random, slots[noisy]);
    }
    TrackedSlots& odd = slots[4];
    const auto at = [&] { return random() % odd.symbols.size(); };
    for (int i = 0; i < 20; ++i) {
        const std::size_t erased = at();
        odd.symbols[erased] = {};
        odd.noise_variance[erased] = std::numeric_limits<float>::infinity();
    }
    odd.symbols[at()] = {std::numeric_limits<float>::quiet_NaN(), 1.0F};
    odd.symbols[at()] = {1e38F, -1e38F};
    odd.noise_variance[at()] = 0x1p-126F;
    if (!odd.ptrs.empty()) {
        const auto of_ptrs = [&] { return random() % odd.ptrs.size(); };
        odd.ptrs_noise_variance[of_ptrs()] = std::numeric_limits<float>::infinity();
        odd.ptrs_noise_variance[of_ptrs()] = 0x1p-126F;
        odd.ptrs[of_ptrs()] = {std::numeric_limits<float>::quiet_NaN(), 1.0F};
        odd.ptrs[of_ptrs()] = {1e38F, -1e38F};
        std::fill(slots[5].ptrs.begin(), slots[5].ptrs.end(), cf32());
    }
    odd.estimates[0].phase[7] = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
    const std::vector<int> of = ofdm_symbol_of(config.allocation);
    for (std::size_t i = 0; i < of.size(); ++i)
        if (i + 1 == of.size() || of[i + 1] != of[i]) slots[7].symbols[i] = {4e19F, 3.5e19F};
    return joined(slots);
}

/// OFDM symbols with data, but without DM-RS.
inline int tracked_symbols(const phy::SlotAllocation& allocation) {
    const std::vector<int> of = ofdm_symbol_of(allocation);
    int count = 0;
    for (int l = 0; l < phy::symbols_per_slot; ++l)
        count += !has_dmrs(allocation, l) && std::ranges::find(of, l) != of.end() ? 1 : 0;
    return count;
}

/// Some of a layer, or of two.
inline phy::PtrsConfig random_ptrs(const phy::SlotAllocation& allocation, std::mt19937& random) {
    phy::PtrsConfig ptrs = {.time_density = 1 << random_int(random, 0, 2),
                            .frequency_density = 2 * random_int(random, 1, 2),
                            .resource_element_offset = random_int(random, 0, 3),
                            .rnti = static_cast<std::uint32_t>(random_int(random, 0, 65535))};
    const int most = allocation.dmrs.type == 1 ? 3 : 5;
    for (const int port : allocation.dmrs.ports)
        if (port <= most && ptrs.ports.size() < 2) ptrs.ports.push_back(port);
    if (ptrs.ports.empty()) ptrs.ports = {most};
    return ptrs;
}

/// An allocation with enough symbols to follow a phase by, in two ranges and beside reserved elements. Half
/// of them have PT-RS.
inline PhaseTrackerConfig random_tracker(phy::Modulation modulation, std::mt19937& random) {
    PhaseTrackerConfig config = {.allocation = {}, .modulation = modulation};
    do {
        config.allocation = random_allocation(random, 80);
        config.allocation.carrier_resource_blocks = 80;
        config.allocation.resource_blocks = {{60, random_int(random, 1, 20)}, {2, random_int(random, 8, 50)}};
        config.allocation.reserved = {
            {.symbols = {4, 9}, .resource_blocks = {.first = 3, .count = 70}, .subcarriers = {0, 5, 11}}};
        if (random_int(random, 0, 1) == 0) config.allocation.ptrs = random_ptrs(config.allocation, random);
    } while (tracked_symbols(config.allocation) < 6);
    return config;
}

}  // namespace phy_test
