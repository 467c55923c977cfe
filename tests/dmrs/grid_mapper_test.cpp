#include "phy/dmrs/grid_mapper.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>

#include "phy/core/error.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::GridMapper;
using phy::SlotAllocation;

constexpr unsigned seed = 63131;

std::vector<cf32> random_symbols(std::size_t count, std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<cf32> symbols(count);
    for (cf32& symbol : symbols)
        symbol = {normal(random), normal(random)};
    return symbols;
}

/// What port p of the type sends in pilot i of a symbol, the second of a double one or not: w_f w_t.
int sign(int type, int port, std::size_t i, bool is_second) {
    const int groups = type == 1 ? 2 : 3;
    const int in_frequency = port % 2 == 1 && i % 2 == 1 ? -1 : 1;
    const int in_time = port >= 2 * groups && is_second ? -1 : 1;
    return in_frequency * in_time;
}

/// One slot, one resource element after another.
std::vector<std::complex<double>> expected_grid(const SlotAllocation& a, std::span<const cf32> symbols,
                                                std::span<const cf32> pilots) {
    const auto subcarriers = static_cast<std::size_t>(12 * a.carrier_resource_blocks);
    const std::size_t layers = a.dmrs.ports.size();
    std::vector<std::complex<double>> grid(layers * 14 * subcarriers);
    const phy::ResourceMap map(a);
    const double beta = std::pow(10.0, (a.dmrs.power_db                       ? *a.dmrs.power_db
                                        : a.dmrs.cdm_groups_without_data == 1 ? 0.0F
                                        : a.dmrs.cdm_groups_without_data == 2 ? 3.0F
                                                                              : 4.77F) /
                                           20.0);
    std::size_t next = 0;
    std::size_t next_pilot = 0;
    for (std::size_t l = 0; l < 14; ++l) {
        const auto dmrs = std::find(a.dmrs.symbols.begin(), a.dmrs.symbols.end(), static_cast<int>(l));
        const bool has_dmrs = dmrs != a.dmrs.symbols.end();
        const bool is_second = has_dmrs && a.dmrs.length == 2 && (dmrs - a.dmrs.symbols.begin()) % 2 == 1;
        for (const phy::ResourceBlocks& range : a.resource_blocks) {
            for (int block = range.first; block < range.first + range.count; ++block) {
                const auto b = static_cast<std::size_t>(block);
                const std::uint32_t mask =
                    map.entries()[l * static_cast<std::size_t>(a.carrier_resource_blocks) + b].mask;
                for (std::size_t k = 0; k < 12; ++k) {
                    for (std::size_t v = 0; (mask >> k & 1U) != 0 && v < layers; ++v)
                        grid[(v * 14 + l) * subcarriers + 12 * b + k] = symbols[next++];
                }
                if (!has_dmrs) continue;
                const std::size_t per_block = a.dmrs.type == 1 ? 6 : 4;
                for (std::size_t v = 0; v < layers; ++v) {
                    const int port = a.dmrs.ports[v];
                    const auto group = static_cast<std::size_t>(port / 2 % (a.dmrs.type == 1 ? 2 : 3));
                    for (std::size_t i = 0; i < per_block; ++i) {
                        const std::size_t k =
                            a.dmrs.type == 1 ? 2 * i + group : i / 2 * 6 + i % 2 + 2 * group;
                        grid[(v * 14 + l) * subcarriers + 12 * b + k] =
                            beta * sign(a.dmrs.type, port, i, is_second) *
                            std::complex<double>(pilots[next_pilot + i]);
                    }
                }
                next_pilot += per_block;
            }
        }
    }
    EXPECT_EQ(next, symbols.size());
    EXPECT_EQ(next_pilot, pilots.size());
    return grid;
}

TEST(GridMapper, PutsEverySymbolWhereItBelongs) {
    std::mt19937 random(seed);
    for (int trial = 0; trial < fewer_times(200); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        SlotAllocation allocation = random_allocation(random, 30);
        allocation.symbols = phy::symbols_per_slot - allocation.first_symbol;
        if (trial % 3 == 0) allocation.dmrs.power_db = -1.5F;
        const GridMapper map_to_grid(allocation);
        constexpr std::size_t slots = 2;
        const auto symbols = random_symbols(slots * map_to_grid.symbols_per_slot(), random);
        const auto pilots = random_symbols(slots * map_to_grid.pilots_per_slot(), random);
        std::vector<cf32> grid(slots * map_to_grid.grid_size(), cf32(7.0F));
        map_to_grid(symbols, pilots, grid);
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const auto part = [&](const std::vector<cf32>& all) {
                return std::span(all).subspan(slot * all.size() / slots, all.size() / slots);
            };
            const auto expected = expected_grid(allocation, part(symbols), part(pilots));
            ASSERT_EQ(part(grid).size(), expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i)
                ASSERT_LE(std::abs(std::complex<double>(part(grid)[i]) - expected[i]), 1e-6) << i;
        }
    }
}

TEST(GridMapper, RefusesWhatDoesNotFit) {
    SlotAllocation allocation;
    allocation.carrier_resource_blocks = 2;
    allocation.resource_blocks = {{0, 1}};
    const GridMapper map_to_grid(allocation);
    EXPECT_EQ(map_to_grid.symbols_per_slot(), 144U);
    EXPECT_EQ(map_to_grid.pilots_per_slot(), 12U);
    EXPECT_EQ(map_to_grid.grid_size(), 336U);
    std::vector<cf32> symbols(145);
    std::vector<cf32> pilots(13);
    std::vector<cf32> grid(337, cf32(7.0F));
    const auto expect_error = [&](std::size_t s, std::size_t p, std::size_t g) {
        EXPECT_THROW(
            map_to_grid(std::span(symbols).first(s), std::span(pilots).first(p), std::span(grid).first(g)),
            phy::ArgumentError);
        EXPECT_EQ(grid[0], cf32(7.0F));
    };
    expect_error(145, 12, 336);
    expect_error(144, 13, 336);
    expect_error(144, 12, 337);
    expect_error(144, 12, 0);
    map_to_grid({}, {}, {});
    allocation.resource_blocks.clear();
    EXPECT_THROW(GridMapper{allocation}, phy::ArgumentError);
}

}  // namespace
