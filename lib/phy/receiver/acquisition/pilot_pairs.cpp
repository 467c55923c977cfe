#include "phy/receiver/acquisition/pilot_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {
namespace {

constexpr int between = 2;  ///< pilots from one of a pair to the other

std::size_t pilots_of(const SlotAllocation& allocation, const ResourceBlocks& range) {
    return static_cast<std::size_t>(range.count) *
           static_cast<std::size_t>(pilots_per_resource_block(allocation.dmrs.type));
}

}  // namespace

std::size_t pairs_of_symbol(const SlotAllocation& allocation) {
    std::size_t pairs = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks)
        pairs += pilots_of(allocation, range) - static_cast<std::size_t>(between);
    return pairs;
}

int subcarriers_of_pair(int type) {
    return pilot_subcarrier(type, 0, between) - pilot_subcarrier(type, 0, 0);
}

PilotPairs::PilotPairs(const SlotAllocation& allocation, std::span<const cf32> grid, std::size_t antennas) {
    std::size_t pilot = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        const std::size_t end = pilot + pilots_of(allocation, range);
        for (; pilot + static_cast<std::size_t>(between) < end; ++pilot)
            firsts_.push_back(pilot);
        pilot = end;
    }
    std::vector<int> groups;
    for (const int port : allocation.dmrs.ports)
        groups.push_back(dmrs_port(allocation.dmrs.type, port).cdm_group);
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());

    const auto width = static_cast<std::size_t>(allocation.subcarriers());
    const std::size_t rows = grid.size() / width;
    energies_.resize(rows / antennas);
    products_.resize(energies_.size() * firsts_.size());
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t slot = row / symbols_per_slot / antennas;
        for (const int group : groups)
            add_row(allocation, group, grid.data() + row * width,
                    slot * symbols_per_slot + row % symbols_per_slot);
    }
    squares_.resize(energies_.size());
    for (std::size_t i = 0; i < products_.size(); ++i)
        squares_[i / firsts_.size()] += static_cast<double>(std::norm(products_[i]));
}

void PilotPairs::add_row(const SlotAllocation& allocation, int group, const cf32* row, std::size_t symbol) {
    const int type = allocation.dmrs.type;
    const int of_block = pilots_per_resource_block(type);
    std::complex<float>* product = products_.data() + symbol * firsts_.size();
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        const auto element = [&](int pilot) {
            const int subcarrier = subcarriers_per_resource_block * (range.first + pilot / of_block) +
                                   pilot_subcarrier(type, group, pilot % of_block);
            return finite(row[subcarrier]);
        };
        const auto last = static_cast<int>(pilots_of(allocation, range)) - between;
        for (int pilot = 0; pilot < last; ++pilot) {
            const cf32 left = element(pilot);
            const cf32 right = element(pilot + between);
            *product++ += left * std::conj(right);
            energies_[symbol] += 0.5 * static_cast<double>(std::norm(left) + std::norm(right));
        }
    }
}

std::complex<double> PilotPairs::correlation(std::size_t slot, std::size_t symbol,
                                             std::span<const cf32> pilots) const {
    const std::complex<float>* const products =
        products_.data() + (slot * symbols_per_slot + symbol) * firsts_.size();
    double re = 0.0;
    double im = 0.0;
    for (std::size_t pair = 0; pair < firsts_.size(); ++pair) {
        const cf32 left = pilots[firsts_[pair]];
        const cf32 right = pilots[firsts_[pair] + static_cast<std::size_t>(between)];
        // The numbers are finite, so this avoids the products of std::complex, which check for NaN.
        const float turn_re = left.real() * right.real() + left.imag() * right.imag();
        const float turn_im = left.real() * right.imag() - left.imag() * right.real();
        re += static_cast<double>(products[pair].real() * turn_re - products[pair].imag() * turn_im);
        im += static_cast<double>(products[pair].real() * turn_im + products[pair].imag() * turn_re);
    }
    return {re, im};
}

}  // namespace phy::detail

namespace phy {

double min_coherence(const SlotAllocation& allocation) {
    // For wrong pilots the squared coherence is exponentially distributed with mean 1 / n, for one antenna
    // and for several that receive the same.
    const double n = static_cast<double>(detail::pairs_of_symbol(allocation)) *
                     static_cast<double>(allocation.dmrs.symbols.size());
    const double log_chance = detail::elementary::log(1e6);
    return std::clamp(std::sqrt(log_chance / std::max(n, 1.0)), 0.15, 0.7);
}

}  // namespace phy
