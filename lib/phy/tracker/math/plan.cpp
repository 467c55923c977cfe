#include "phy/tracker/math/plan.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/dmrs/pilots.hpp"

namespace phy::detail {
namespace {

/// Symbols of the codeword in each OFDM symbol.
std::array<std::uint32_t, symbols_per_slot> symbols_of(const SlotAllocation& allocation) {
    const ResourceMap map(allocation);
    const std::span<const ResourceMap::Entry> entries = map.entries();
    const auto carrier = static_cast<std::size_t>(allocation.carrier_resource_blocks);
    std::array<std::uint32_t, symbols_per_slot> count = {};
    for (std::size_t i = 0; i < entries.size(); ++i)
        count[i / carrier] +=
            static_cast<std::uint32_t>(std::popcount(entries[i].mask) * allocation.layers());
    return count;
}

/// The OFDM symbols from a DM-RS symbol on in a direction, 1 or -1, as far as it is the nearest. Half-way
/// between two, the earlier one is.
std::vector<int> chain_from(const std::vector<int>& dmrs, int from, int direction) {
    const auto is_dmrs = [&](int l) { return std::ranges::find(dmrs, l) != dmrs.end(); };
    int end = from + direction;
    while (end >= 0 && end < symbols_per_slot && !is_dmrs(end))
        end += direction;
    const bool is_between = end >= 0 && end < symbols_per_slot;
    const int free = std::abs(end - from) - 1;
    const int length = !is_between ? free : direction > 0 ? (free + 1) / 2 : free / 2;
    std::vector<int> chain;
    for (int i = 1; i <= length; ++i)
        chain.push_back(from + i * direction);
    return chain;
}

/// Steps from 0 on, to both sides by turns: near enough to each other for Newton's method, whose reach is
/// that of decisions, and up to about 0.2 rad.
void add_tried_steps(Modulation modulation, TrackPlan& plan) {
    const double distance = 0.75 * axis_unit(modulation);
    const double farthest = 0.21;
    plan.tried[plan.tried_count++] = {1.0F, 0.0F};
    for (int i = 1; plan.tried_count + 1 < plan.tried.size() && (i - 0.5) * distance < farthest; ++i)
        for (const double sign : {1.0, -1.0}) {
            const double t = sign * i * distance / 2.0;  // of half the angle
            plan.tried[plan.tried_count++] = {static_cast<float>((1.0 - t * t) / (1.0 + t * t)),
                                              static_cast<float>(2.0 * t / (1.0 + t * t))};
        }
}

}  // namespace

TrackPlan track_plan(const PhaseTrackerConfig& config) {
    check_enum("modulation", config.modulation, all_modulations.back());
    const auto count = symbols_of(config.allocation);
    TrackPlan plan = {.scale = symbol_scale({.modulation = config.modulation}, SampleFormat::cf32)};
    std::array<std::uint32_t, symbols_per_slot> first = {};
    for (std::size_t l = 0; l < count.size(); ++l) {
        first[l] = static_cast<std::uint32_t>(plan.symbols);
        plan.symbols += count[l];
    }
    add_tried_steps(config.modulation, plan);
    std::uint32_t steps = 0;
    for (const int from : config.allocation.dmrs.symbols) {
        for (const int direction : {1, -1}) {
            const std::uint32_t begin = steps;
            for (const int symbol : chain_from(config.allocation.dmrs.symbols, from, direction)) {
                const auto l = static_cast<std::size_t>(symbol);
                if (count[l] == 0) continue;
                plan.steps[steps++] = {
                    first[l], count[l], stride_of(count[l]), static_cast<std::uint32_t>(symbol), 0, 0};
            }
            if (steps > begin) plan.chain[++plan.chains] = steps;
        }
    }
    return plan;
}

std::vector<TrackedPtrs> place_ptrs(const PhaseTrackerConfig& config, TrackPlan& plan) {
    const SlotAllocation& allocation = config.allocation;
    if (!allocation.ptrs) return {};
    const std::optional<SlotAllocation> of_ptrs = ptrs_positions(allocation);
    if (!of_ptrs) return {};
    const ResourceMap map(*of_ptrs);
    const auto carrier = static_cast<std::size_t>(allocation.carrier_resource_blocks);
    const auto layers = static_cast<std::size_t>(allocation.layers());
    plan.ptrs_symbols = map.elements() * layers;
    plan.pilots = ptrs_pilot_count(allocation);
    plan.ptrs_amplitude = ptrs_amplitude(allocation, config.modulation);
    const std::vector<PtrsPort> ports = ptrs_ports(allocation);
    std::vector<TrackedPtrs> all;
    for (std::uint32_t i = 0; i < plan.step_count(); ++i) {
        TrackStep& step = plan.steps[i];
        step.first_ptrs = static_cast<std::uint32_t>(all.size());
        for (const PtrsPort& its : ports) {
            const auto layer = static_cast<std::size_t>(std::ranges::find(allocation.dmrs.ports, its.port) -
                                                        allocation.dmrs.ports.begin());
            if (layer == layers) continue;
            for (std::size_t k = 0; k < its.subcarriers.size(); ++k) {
                const auto at = static_cast<std::size_t>(its.subcarriers[k]);
                const std::size_t block = at / subcarriers_per_resource_block;
                const std::uint32_t bit = 1U << at % subcarriers_per_resource_block;
                const ResourceMap::Entry& entry = map.entries()[step.symbol * carrier + block];
                if ((entry.mask & bit) == 0) continue;
                const std::size_t before =
                    entry.first + static_cast<std::size_t>(std::popcount(entry.mask & (bit - 1)));
                all.push_back({static_cast<std::uint32_t>(before * layers + layer),
                               static_cast<std::uint32_t>(its.pilots[k])});
            }
        }
        step.ptrs = static_cast<std::uint32_t>(all.size()) - step.first_ptrs;
    }
    return all;
}

void check(const PhaseTrackerConfig& config, const TrackPlan& plan, const TrackerSizes& sizes) {
    check_slots(sizes.slots, "symbols", sizes.symbols);
    check_size("symbols", sizes.symbols, sizes.slots * plan.symbols);
    check_size("noise_variance", sizes.noise_variance, sizes.symbols);
    if (sizes.pairs != 0)
        check_size("pairs", sizes.pairs, config.allocation.layers() == 2 ? sizes.symbols / 2 : 0);
    const bool has_ptrs = sizes.ptrs != 0 || sizes.ptrs_noise_variance != 0 || sizes.pilots != 0;
    if (!has_ptrs) return;
    check_size("PT-RS symbols", sizes.ptrs, sizes.slots * plan.ptrs_symbols);
    check_size("noise_variance of PT-RS", sizes.ptrs_noise_variance, sizes.ptrs);
    check_size("pilots", sizes.pilots, sizes.slots * plan.pilots);
}

}  // namespace phy::detail
