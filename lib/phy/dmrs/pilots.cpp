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
constexpr float component = 0.70710678F;     // of a pilot

std::uint32_t c_init(std::uint64_t n_id, int n_scid, int slot, int symbol) {
    const auto count = static_cast<std::uint64_t>(symbols_per_slot * slot + symbol + 1);
    const std::uint64_t sum =
        ((count * (2 * n_id + 1)) << 17) + 2 * n_id + static_cast<std::uint64_t>(n_scid);
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
    gold_sequence(c_init(dmrs.scrambling_id, dmrs.n_scid, slot, symbol), skipped * per_block * 2,
                  std::span(words).first((generated + pilots_per_word - 1) / pilots_per_word));

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

/// Whether w(k) of table 6.4.1.2.1.2-1 is -1.
bool is_negative(std::uint32_t rnti, int samples_per_group, int k) {
    const auto row = rnti % static_cast<std::uint32_t>(samples_per_group);
    if (samples_per_group == 2) return row == 1 && k == 1;
    constexpr unsigned signs[] = {0b0000, 0b1010, 0b1100, 0b0110};  // by k
    return (signs[row] >> static_cast<unsigned>(k) & 1U) != 0;
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

std::size_t ptrs_pilot_count(const SlotAllocation& allocation) {
    static_cast<void>(ptrs_symbols(allocation));  // for its errors
    if (!allocation.dmrs.transform_precoding) return dmrs_pilot_count(allocation);
    return static_cast<std::size_t>(allocation.ptrs->groups * allocation.ptrs->samples_per_group);
}

void ptrs_pilots(const SlotAllocation& allocation, int slot, std::span<cf32> pilots) {
    detail::check_size("pilots", pilots.size(), ptrs_pilot_count(allocation));
    if (!allocation.dmrs.transform_precoding) return dmrs_pilots(allocation, slot, pilots);
    const std::vector<int> symbols = ptrs_symbols(allocation);
    detail::check_range("slot", slot, 0, max_slots - 1);
    std::array<std::uint32_t, 1> bits = {};
    if (!symbols.empty()) gold_sequence(c_init(allocation.dmrs.scrambling_id, 0, slot, symbols[0]), 0, bits);
    const PtrsConfig& ptrs = *allocation.ptrs;
    const PtrsPort port = ptrs_ports(allocation).front();
    const int first = subcarriers_per_resource_block * allocation.resource_blocks.front().first;
    for (std::size_t i = 0; i < pilots.size(); ++i) {
        const int in_group = static_cast<int>(i) % ptrs.samples_per_group;
        const bool bit = (bits[0] >> i & 1U) != 0;
        const float x =
            bit != is_negative(ptrs.rnti, ptrs.samples_per_group, in_group) ? -component : component;
        const bool is_odd = (port.subcarriers[i] - first) % 2 != 0;
        pilots[i] = is_odd ? cf32(-x, x) : cf32(x, x);
    }
}

}  // namespace phy
