#include "phy/receiver/acquisition/evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {
namespace {

using Complex = std::complex<double>;

constexpr int blocks_of_part = 2;

struct Group {
    int number = 0;
    bool has_pair = false;  ///< ports with both codes in frequency
    double code = 1.0;      ///< of odd pilots, without a pair
};

std::vector<Group> groups_of(const DmrsConfig& dmrs) {
    std::vector<Group> groups;
    for (const int number : dmrs.ports) {
        const DmrsPort port = dmrs_port(dmrs.type, number);
        const auto same = [&](const Group& group) { return group.number == port.cdm_group; };
        const auto found = std::find_if(groups.begin(), groups.end(), same);
        const double code = port.in_frequency[1];
        if (found == groups.end()) {
            groups.push_back({.number = port.cdm_group, .code = code});
        } else if (found->code != code) {
            found->has_pair = true;
        }
    }
    return groups;
}

/// -ln of the probability that at least this share of energy matches, by the beta distribution.
double surprisal_of(double share, int pilots, bool has_pair) {
    // Quantised samples without noise match exactly, which is no more certain than a good recording.
    const double rest = std::max(1.0 - share, 1e-6);
    if (!has_pair) return -(pilots - 1) * elementary::log(rest);
    return -(pilots - 2) * elementary::log(rest) - elementary::log(1.0 + (pilots - 2) * (1.0 - rest));
}

/// The pilots of one part at one antenna.
struct Sums {
    std::array<Complex, 2> agreeing = {};  ///< even and odd pilots
    double energy = 0.0;
};

Sums sums_of(const SlotAllocation& allocation, int group, ResourceBlocks part, const cf32* row,
             const cf32* pilots) {
    Sums sums;
    const int type = allocation.dmrs.type;
    const int of_block = pilots_per_resource_block(type);
    for (int i = 0; i < part.count * of_block; ++i) {
        const int subcarrier = subcarriers_per_resource_block * (part.first + i / of_block) +
                               pilot_subcarrier(type, group, i % of_block);
        const Complex element(finite(row[subcarrier]));
        sums.agreeing[static_cast<std::size_t>(i % 2)] += element * std::conj(Complex(pilots[i]));
        sums.energy += std::norm(element);
    }
    return sums;
}

}  // namespace

void Evidence::add(const SlotAllocation& allocation, std::span<const cf32> grid,
                   std::span<const cf32> pilots) {
    const cf32* expected = pilots.data();
    for (const int symbol : allocation.dmrs.symbols) {
        for (const ResourceBlocks& range : allocation.resource_blocks) {
            for (int block = 0; block < range.count; block += blocks_of_part) {
                const ResourceBlocks part = {range.first + block,
                                             std::min(blocks_of_part, range.count - block)};
                add_part(allocation, symbol, part, grid, expected);
                expected += part.count * pilots_per_resource_block(allocation.dmrs.type);
            }
        }
    }
}

void Evidence::add_part(const SlotAllocation& allocation, int symbol, ResourceBlocks part,
                        std::span<const cf32> grid, const cf32* pilots) {
    const auto width = static_cast<std::size_t>(allocation.subcarriers());
    const std::size_t antennas = grid.size() / (width * symbols_per_slot);
    const std::vector<Group> groups = groups_of(allocation.dmrs);
    const bool has_pair =
        std::any_of(groups.begin(), groups.end(), [](const Group& group) { return group.has_pair; });
    const int count = part.count * pilots_per_resource_block(allocation.dmrs.type);
    double agrees = 0.0;
    double all = 0.0;
    for (const Group& group : groups) {
        for (std::size_t antenna = 0; antenna < antennas; ++antenna) {
            const std::size_t row = antenna * symbols_per_slot + static_cast<std::size_t>(symbol);
            const Sums sums = sums_of(allocation, group.number, part, grid.data() + row * width, pilots);
            const auto& [even, odd] = sums.agreeing;
            agrees +=
                has_pair ? 2.0 * (std::norm(even) + std::norm(odd)) : std::norm(even + group.code * odd);
            all += sums.energy;
        }
    }
    agrees /= count;
    ++parts;
    if (all > 0.0) surprisal += surprisal_of(agrees / all, count, has_pair);
    agreeing += agrees;
    energy += all;
}

double Evidence::log_chance() const {
    // The sum over k < n of x^k / k!, times exp(-x). Begins with the largest term, so that nothing overflows.
    if (surprisal <= 0.0) return 0.0;
    const double log_x = elementary::log(surprisal);
    double largest = -surprisal;
    double sum = 0.0;
    double term = -surprisal;
    for (std::size_t k = 0; k < parts; ++k) {
        if (k > 0) term += log_x - elementary::log(static_cast<double>(k));
        if (term > largest) {
            sum = sum * elementary::exp(largest - term) + 1.0;
            largest = term;
        } else {
            sum += elementary::exp(term - largest);
        }
    }
    return std::min(largest + elementary::log(sum), 0.0);
}

}  // namespace phy::detail
