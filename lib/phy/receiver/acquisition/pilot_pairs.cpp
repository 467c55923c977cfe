#include "phy/receiver/acquisition/pilot_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {
namespace {

constexpr std::size_t between = 2;  ///< pilots from one of a pair to the other

std::size_t pilots_of(const SlotAllocation& allocation, const ResourceBlocks& range) {
    return static_cast<std::size_t>(range.count) *
           static_cast<std::size_t>(pilots_per_resource_block(allocation.dmrs.type));
}

}  // namespace

std::size_t pairs_of_symbol(const SlotAllocation& allocation) {
    std::size_t pairs = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks)
        pairs += pilots_of(allocation, range) - between;
    return pairs;
}

int subcarriers_of_pair(int type) {
    return pilot_subcarrier(type, 0, int{between}) - pilot_subcarrier(type, 0, 0);
}

PilotPairs::PilotPairs(const SlotAllocation& allocation, std::span<const cf32> grid, std::size_t antennas) {
    std::size_t pilot = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        const std::size_t end = pilot + pilots_of(allocation, range);
        for (; pilot + between < end; ++pilot)
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
    products_re_.resize(energies_.size() * firsts_.size());
    products_im_.resize(products_re_.size());
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t slot = row / symbols_per_slot / antennas;
        for (const int group : groups)
            add_row(allocation, group, grid.data() + row * width,
                    slot * symbols_per_slot + row % symbols_per_slot);
    }
    squares_.resize(energies_.size());
    for (std::size_t i = 0; i < products_re_.size(); ++i)
        squares_[i / firsts_.size()] +=
            static_cast<double>(products_re_[i] * products_re_[i] + products_im_[i] * products_im_[i]);
}

void PilotPairs::add_row(const SlotAllocation& allocation, int group, const cf32* row, std::size_t symbol) {
    float* product_re = products_re_.data() + symbol * firsts_.size();
    float* product_im = products_im_.data() + symbol * firsts_.size();
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        energies_[symbol] += take_pilots(allocation.dmrs.type, group, range, row);
        const std::size_t pairs = pilots_of(allocation, range) - between;
        const float* const left_re = pilots_re_.data();
        const float* const left_im = pilots_im_.data();
        for (std::size_t i = 0; i < pairs; ++i) {
            const float right_re = left_re[i + between];
            const float right_im = left_im[i + between];
            product_re[i] += left_re[i] * right_re + left_im[i] * right_im;
            product_im[i] += left_im[i] * right_re - left_re[i] * right_im;
        }
        product_re += pairs;
        product_im += pairs;
    }
}

/// Takes the pilots of a row, if it has DM-RS. Returns half of the power of all pairs: each pilot is in two,
/// but for the outermost ones.
double PilotPairs::take_pilots(int type, int group, const ResourceBlocks& range, const cf32* row) {
    const auto of_block = static_cast<std::size_t>(pilots_per_resource_block(type));
    std::array<std::size_t, subcarriers_per_resource_block> subcarriers = {};
    for (std::size_t pilot = 0; pilot < of_block; ++pilot)
        subcarriers[pilot] = static_cast<std::size_t>(pilot_subcarrier(type, group, static_cast<int>(pilot)));
    pilots_re_.resize(of_block * static_cast<std::size_t>(range.count));
    pilots_im_.resize(pilots_re_.size());
    const cf32* block = row + static_cast<std::ptrdiff_t>(subcarriers_per_resource_block) * range.first;
    double energy = 0.0;
    for (std::size_t first = 0; first < pilots_re_.size(); first += of_block) {
        float power = 0.0F;
        for (std::size_t pilot = 0; pilot < of_block; ++pilot) {
            const cf32 element = finite(block[subcarriers[pilot]]);
            pilots_re_[first + pilot] = element.real();
            pilots_im_[first + pilot] = element.imag();
            power += std::norm(element);
        }
        energy += static_cast<double>(power);
        block += subcarriers_per_resource_block;
    }
    for (std::size_t i = 0; i < between; ++i)
        for (const std::size_t outermost : {i, pilots_re_.size() - 1 - i})
            energy -=
                0.5 * static_cast<double>(std::norm(cf32(pilots_re_[outermost], pilots_im_[outermost])));
    return energy;
}

std::complex<double> PilotPairs::correlation(std::size_t slot, std::size_t symbol,
                                             std::span<const cf32> pilots) const {
    const float* const products_re =
        products_re_.data() + (slot * symbols_per_slot + symbol) * firsts_.size();
    const float* const products_im =
        products_im_.data() + (slot * symbols_per_slot + symbol) * firsts_.size();
    double re = 0.0;
    double im = 0.0;
    for (std::size_t pair = 0; pair < firsts_.size(); ++pair) {
        const cf32 left = pilots[firsts_[pair]];
        const cf32 right = pilots[firsts_[pair] + between];
        // The numbers are finite, so this avoids the products of std::complex, which check for NaN.
        const float turn_re = left.real() * right.real() + left.imag() * right.imag();
        const float turn_im = left.real() * right.imag() - left.imag() * right.real();
        re += static_cast<double>(products_re[pair] * turn_re - products_im[pair] * turn_im);
        im += static_cast<double>(products_re[pair] * turn_im + products_im[pair] * turn_re);
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
