#include "phy/dmrs/grid_mapper.hpp"

#include <algorithm>
#include <array>

#include "phy/core/check.hpp"
#include "phy/dmrs/pilots.hpp"

namespace phy {
namespace detail {

bool is_reserved(const SlotAllocation& allocation, int symbol, int subcarrier) {
    const int block = subcarrier / subcarriers_per_resource_block;
    return std::ranges::any_of(allocation.reserved, [&](const ReservedElements& reserved) {
        const ResourceBlocks& range = reserved.resource_blocks;
        return block >= range.first && block < range.first + range.count &&
               std::ranges::count(reserved.symbols, symbol) != 0 &&
               std::ranges::count(reserved.subcarriers, subcarrier % subcarriers_per_resource_block) != 0;
    });
}

}  // namespace detail

namespace {

/// Precoded PT-RS are among the caller's symbols.
SlotAllocation without_precoded_ptrs(const SlotAllocation& allocation) {
    return allocation.dmrs.transform_precoding ? detail::without_ptrs(allocation) : allocation;
}

}  // namespace

GridMapper::GridMapper(const SlotAllocation& allocation)
    : allocation_(without_precoded_ptrs(allocation)),
      map_(allocation_),
      pilots_(dmrs_pilot_count(allocation)),
      amplitude_(dmrs_amplitude(allocation.dmrs)) {
    for (const int port : allocation.dmrs.ports)
        ports_.push_back(dmrs_port(allocation.dmrs.type, port));
    if (allocation_.ptrs) add_ptrs();
}

void GridMapper::add_ptrs() {
    ptrs_amplitude_ = ptrs_amplitude(allocation_, Modulation::qpsk);  // any: there is no transform precoding
    const std::vector<int> symbols = ptrs_symbols(allocation_);
    for (const PtrsPort& its : ptrs_ports(allocation_)) {
        const auto layer = std::ranges::find(allocation_.dmrs.ports, its.port);
        if (layer == allocation_.dmrs.ports.end()) continue;
        const auto first_symbol =
            static_cast<int>(layer - allocation_.dmrs.ports.begin()) * phy::symbols_per_slot;
        for (const int symbol : symbols) {
            for (std::size_t i = 0; i < its.subcarriers.size(); ++i) {
                const int subcarrier = its.subcarriers[i];
                if (detail::is_reserved(allocation_, symbol, subcarrier)) continue;
                ptrs_.push_back({.element = static_cast<std::size_t>(
                                     (first_symbol + symbol) * allocation_.subcarriers() + subcarrier),
                                 .pilot = static_cast<std::size_t>(its.pilots[i])});
            }
        }
    }
}

std::size_t GridMapper::symbols_per_slot() const {
    return map_.elements() * ports_.size();
}

std::size_t GridMapper::pilots_per_slot() const {
    return pilots_;
}

std::size_t GridMapper::grid_size() const {
    return ports_.size() * phy::symbols_per_slot * static_cast<std::size_t>(allocation_.subcarriers());
}

void GridMapper::operator()(std::span<const cf32> symbols, std::span<const cf32> pilots,
                            std::span<cf32> grid) const {
    const std::size_t slots = grid.size() / grid_size();
    detail::check_size("grid", grid.size(), slots * grid_size());
    detail::check_size("symbols", symbols.size(), slots * symbols_per_slot());
    detail::check_size("pilots", pilots.size(), slots * pilots_);
    std::fill(grid.begin(), grid.end(), cf32{});
    for (std::size_t slot = 0; slot < slots; ++slot) {
        cf32* const out = grid.data() + slot * grid_size();
        put_data(symbols.data() + slot * symbols_per_slot(), out);
        put_pilots(pilots.data() + slot * pilots_, out);
        for (const PtrsElement& its : ptrs_)
            out[its.element] = pilots[slot * pilots_ + its.pilot] * ptrs_amplitude_;
    }
}

void GridMapper::put_data(const cf32* symbols, cf32* grid) const {
    const auto subcarriers = static_cast<std::size_t>(allocation_.subcarriers());
    const std::size_t layers = ports_.size();
    for (const ResourceMap::Entry& entry : map_.entries()) {
        if (entry.mask == 0) continue;
        // Entries are (symbols, resource blocks), so their index gives their position in a layer's grid.
        const auto number = static_cast<std::size_t>(&entry - map_.entries().data());
        cf32* const block = grid + number * subcarriers_per_resource_block;
        const cf32* in = symbols + entry.first * layers;
        for (std::size_t k = 0; k < subcarriers_per_resource_block; ++k) {
            if ((entry.mask >> k & 1U) == 0) continue;
            for (std::size_t v = 0; v < layers; ++v)
                block[v * phy::symbols_per_slot * subcarriers + k] = *in++;
        }
    }
}

void GridMapper::put_pilots(const cf32* pilots, cf32* grid) const {
    const DmrsConfig& dmrs = allocation_.dmrs;
    const auto subcarriers = static_cast<std::size_t>(allocation_.subcarriers());
    const std::size_t per_symbol = pilots_ / dmrs.symbols.size();
    for (std::size_t v = 0; v < ports_.size(); ++v) {
        const DmrsPort& port = ports_[v];
        for (std::size_t i = 0; i < dmrs.symbols.size(); ++i) {
            const int in_time = port.in_time[i % static_cast<std::size_t>(dmrs.length)];
            const std::array amplitudes = {amplitude_ * static_cast<float>(in_time * port.in_frequency[0]),
                                           amplitude_ * static_cast<float>(in_time * port.in_frequency[1])};
            const auto symbol = static_cast<std::size_t>(dmrs.symbols[i]);
            put_pilots_of_symbol(pilots + i * per_symbol, port.cdm_group, amplitudes,
                                 grid + (v * phy::symbols_per_slot + symbol) * subcarriers);
        }
    }
}

void GridMapper::put_pilots_of_symbol(const cf32* pilots, int cdm_group,
                                      const std::array<float, 2>& amplitudes, cf32* row) const {
    const int type = allocation_.dmrs.type;
    const int per_block = pilots_per_resource_block(type);
    for (const ResourceBlocks& range : allocation_.resource_blocks) {
        for (int block = range.first; block < range.first + range.count; ++block) {
            for (int n = 0; n < per_block; ++n) {
                const int k = block * subcarriers_per_resource_block + pilot_subcarrier(type, cdm_group, n);
                row[k] = *pilots++ * amplitudes[static_cast<std::size_t>(n % 2)];
            }
        }
    }
}

}  // namespace phy
