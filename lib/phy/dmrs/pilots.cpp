#include <algorithm>
#include <array>

#include "phy/core/check.hpp"
#include "phy/dmrs/pilots.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {
namespace {

constexpr int max_slots = 640;  // per frame, at 960 kHz
constexpr std::size_t pilots_per_word = 16;
constexpr std::size_t max_pilots = 275 * 6;  // per symbol

std::uint32_t c_init(const DmrsConfig& dmrs, int slot, int symbol) {
    const std::uint64_t n_id = dmrs.scrambling_id;
    const auto count = static_cast<std::uint64_t>(symbols_per_slot * slot + symbol + 1);
    const std::uint64_t sum =
        ((count * (2 * n_id + 1)) << 17) + 2 * n_id + static_cast<std::uint64_t>(dmrs.n_scid);
    return static_cast<std::uint32_t>(sum & largest_c_init);
}

/// r(m) of 6.4.1.1.1.1 in the resource blocks of the allocation.
void pseudo_random(const SlotAllocation& allocation, int slot, int symbol, std::span<cf32> pilots) {
    int lowest = allocation.carrier_resource_blocks;
    int end = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        lowest = std::min(lowest, range.first);
        end = std::max(end, range.first + range.count);
    }
    const DmrsConfig& dmrs = allocation.dmrs;
    const auto per_block = static_cast<std::size_t>(pilots_per_resource_block(dmrs.type));
    const auto skipped = static_cast<std::uint64_t>(allocation.first_crb + lowest - dmrs.reference_crb);
    std::array<std::uint32_t, max_pilots / pilots_per_word + 1> words;  // NOLINT: gold_sequence() fills it
    const std::size_t generated = static_cast<std::size_t>(end - lowest) * per_block;
    gold_sequence(c_init(dmrs, slot, symbol), skipped * per_block * 2,
                  std::span(words).first((generated + pilots_per_word - 1) / pilots_per_word));

    constexpr float component = 0.70710678F;
    std::size_t written = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        std::size_t m = static_cast<std::size_t>(range.first - lowest) * per_block;
        for (std::size_t i = 0; i < static_cast<std::size_t>(range.count) * per_block; ++i, ++m) {
            const std::uint32_t bits = words[m / pilots_per_word] >> (2 * (m % pilots_per_word));
            pilots[written++] = {(bits & 1U) != 0 ? -component : component,
                                 (bits & 2U) != 0 ? -component : component};
        }
    }
}

std::size_t pilots_per_symbol(const SlotAllocation& allocation) {
    std::size_t blocks = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks)
        blocks += static_cast<std::size_t>(range.count);
    return blocks * static_cast<std::size_t>(pilots_per_resource_block(allocation.dmrs.type));
}

}  // namespace

std::size_t dmrs_pilot_count(const SlotAllocation& allocation) {
    detail::check_but_data(allocation);
    return allocation.dmrs.symbols.size() * pilots_per_symbol(allocation);
}

void dmrs_pilots(const SlotAllocation& allocation, int slot, std::span<cf32> pilots) {
    detail::check_size("pilots", pilots.size(), dmrs_pilot_count(allocation));
    detail::check_range("slot", slot, 0, max_slots - 1);
    const DmrsConfig& dmrs = allocation.dmrs;
    const std::size_t count = pilots_per_symbol(allocation);
    for (std::size_t i = 0; i < dmrs.symbols.size(); ++i) {
        const std::span<cf32> of_symbol = pilots.subspan(i * count, count);
        if (dmrs.transform_precoding) {
            const std::size_t first_of_dmrs = i - i % static_cast<std::size_t>(dmrs.length);
            detail::transform_precoded_pilots(dmrs, slot, dmrs.symbols[first_of_dmrs], of_symbol);
        } else {
            pseudo_random(allocation, slot, dmrs.symbols[i], of_symbol);
        }
    }
}

}  // namespace phy
