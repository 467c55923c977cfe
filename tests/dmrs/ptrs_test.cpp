#include "phy/dmrs/ptrs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/dmrs/grid_mapper.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::PtrsConfig;
using phy::SlotAllocation;

/// Tables 6.4.1.2.2.1-1 and 7.4.1.2.2-1: by type, port and resource element offset.
const std::vector<std::vector<std::vector<int>>> reference_elements = {
    {{0, 2, 6, 8}, {2, 4, 8, 10}, {1, 3, 7, 9}, {3, 5, 9, 11}},
    {{0, 1, 6, 7}, {1, 6, 7, 0}, {2, 3, 8, 9}, {3, 8, 9, 2}, {4, 5, 10, 11}, {5, 10, 11, 4}}};

SlotAllocation random_allocation_with_ptrs(std::mt19937& random) {
    SlotAllocation allocation = random_allocation(random, random_int(random, 1, 275));
    PtrsConfig& ptrs = allocation.ptrs.emplace();
    ptrs.time_density = 1 << random_int(random, 0, 2);
    ptrs.frequency_density = 2 * random_int(random, 1, 2);
    ptrs.resource_element_offset = random_int(random, 0, 3);
    ptrs.rnti = static_cast<std::uint32_t>(random_int(random, 0, 65535));
    const int most = allocation.dmrs.type == 1 ? 3 : 5;
    if (*std::ranges::min_element(allocation.dmrs.ports) > most || random_int(random, 0, 1) == 0) {
        const int port = random_int(random, 0, most);
        ptrs.ports = {port};
        if (random_int(random, 0, 1) == 0)
            ptrs.ports.push_back((port + random_int(random, 1, most)) % (most + 1));
    }
    return allocation;
}

bool contains(const std::vector<int>& values, int value) {
    return std::ranges::find(values, value) != values.end();
}

/// Step by step as clause 7.4.1.2.2 says, in symbols of the allocation.
std::vector<int> symbols_of_the_clause(const SlotAllocation& a) {
    const int density = a.ptrs->time_density;
    std::vector<int> symbols;
    if ((a.symbols <= 4 && density == 4) || (a.symbols <= 2 && density == 2)) return symbols;
    int i = 0;
    int reference = 0;
    while (reference + i * density < a.symbols) {
        const int first = std::max(reference + (i - 1) * density + 1, reference);
        int overlapping = -1;
        for (int l = reference + i * density; l >= first; --l)
            if (contains(a.dmrs.symbols, a.first_symbol + l)) overlapping = l;
        if (overlapping < 0) {
            symbols.push_back(a.first_symbol + reference + i * density);
            ++i;
            continue;
        }
        const auto index =
            std::ranges::find(a.dmrs.symbols, a.first_symbol + overlapping) - a.dmrs.symbols.begin();
        const bool is_first_of_two = a.dmrs.length == 2 && index % 2 == 0;
        reference = overlapping + (is_first_of_two ? 1 : 0);
        i = 1;
    }
    return symbols;
}

/// Of the grid, ascending.
std::vector<int> subcarriers_of_the_clause(const SlotAllocation& a, int port) {
    std::vector<int> blocks;
    for (int block = 0; block < a.carrier_resource_blocks; ++block)
        for (const phy::ResourceBlocks& range : a.resource_blocks)
            if (block >= range.first && block < range.first + range.count) blocks.push_back(block);
    const int n_rb = static_cast<int>(blocks.size());
    const int k = a.ptrs->frequency_density;
    const int n_rnti = static_cast<int>(a.ptrs->rnti);
    const int k_rb_ref = n_rb % k == 0 ? n_rnti % k : n_rnti % (n_rb % k);
    const int k_re_ref =
        reference_elements[static_cast<std::size_t>(a.dmrs.type - 1)][static_cast<std::size_t>(port)]
                          [static_cast<std::size_t>(a.ptrs->resource_element_offset)];
    std::vector<int> subcarriers;
    for (int i = 0;; ++i) {
        const int k_of_allocation = k_re_ref + (i * k + k_rb_ref) * 12;
        if (k_of_allocation >= 12 * n_rb) return subcarriers;
        subcarriers.push_back(12 * blocks[static_cast<std::size_t>(k_of_allocation / 12)] +
                              k_of_allocation % 12);
    }
}

TEST(PtrsOfRandomAllocations, AreWhereTheClausesPutThem) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (int trial = 0; trial < fewer_times(3000); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        const SlotAllocation allocation = random_allocation_with_ptrs(random);
        EXPECT_EQ(ptrs_symbols(allocation), symbols_of_the_clause(allocation));
        const std::vector<phy::PtrsPort> ports = ptrs_ports(allocation);
        ASSERT_EQ(ports.size(), std::max<std::size_t>(allocation.ptrs->ports.size(), 1));
        for (std::size_t i = 0; i < ports.size(); ++i) {
            EXPECT_EQ(ports[i].port, allocation.ptrs->ports.empty()
                                         ? *std::ranges::min_element(allocation.dmrs.ports)
                                         : allocation.ptrs->ports[i]);
            EXPECT_EQ(ports[i].subcarriers, subcarriers_of_the_clause(allocation, ports[i].port));
        }
    }
}

/// Data are on all elements that they have without PT-RS, but for those of PT-RS.
TEST(PtrsOfRandomAllocations, TakeTheirElementsFromTheData) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (int trial = 0; trial < fewer_times(500); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        const SlotAllocation allocation = random_allocation_with_ptrs(random);
        SlotAllocation without = allocation;
        without.ptrs.reset();
        const phy::ResourceMap map(allocation);
        const phy::ResourceMap map_without(without);
        const std::vector<int> symbols = symbols_of_the_clause(allocation);
        std::vector<std::vector<int>> subcarriers;
        for (const phy::PtrsPort& its : ptrs_ports(allocation))
            subcarriers.push_back(subcarriers_of_the_clause(allocation, its.port));
        std::size_t data = 0;
        for (std::size_t e = 0; e < map.entries().size(); ++e) {
            const auto symbol = static_cast<int>(e) / allocation.carrier_resource_blocks;
            const auto block = static_cast<int>(e) % allocation.carrier_resource_blocks;
            std::uint32_t expected = map_without.entries()[e].mask;
            for (int k = 0; k < 12; ++k)
                for (const std::vector<int>& of_port : subcarriers)
                    if (contains(symbols, symbol) && contains(of_port, 12 * block + k))
                        expected &= ~(1U << k);
            ASSERT_EQ(map.entries()[e].mask, expected) << symbol << ", " << block;
            data += static_cast<std::size_t>(std::popcount(expected));
        }
        EXPECT_EQ(map.elements(), data);
    }
}

/// An Equalizer for it turns PT-RS into symbols, and nothing else.
TEST(PtrsOfRandomAllocations, HaveAnAllocationOfTheirOwn) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    int without = 0;
    for (int trial = 0; trial < fewer_times(500); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        const SlotAllocation allocation = random_allocation_with_ptrs(random);
        SlotAllocation with_data = allocation;
        with_data.ptrs.reset();
        const phy::ResourceMap map(allocation);
        const phy::ResourceMap map_without(with_data);
        const std::vector<int> symbols = symbols_of_the_clause(allocation);
        std::size_t count = 0;
        for (std::size_t e = 0; e < map.entries().size(); ++e)
            count += static_cast<std::size_t>(
                std::popcount(map_without.entries()[e].mask & ~map.entries()[e].mask));
        const std::optional<SlotAllocation> of_ptrs = ptrs_allocation(allocation);
        ASSERT_EQ(of_ptrs.has_value(), count > 0);
        without += count == 0 ? 1 : 0;
        if (!of_ptrs) continue;
        const phy::ResourceMap its(*of_ptrs);
        EXPECT_EQ(its.elements(), count);
        for (std::size_t e = 0; e < map.entries().size(); ++e)
            ASSERT_EQ(its.entries()[e].mask, map_without.entries()[e].mask & ~map.entries()[e].mask);
    }
    EXPECT_LT(without, fewer_times(500) / 2);
}

/// w_f of an odd port on a subcarrier of its CDM group.
double dmrs_sign(const SlotAllocation& allocation, int k) {
    return (allocation.dmrs.type == 1 ? k % 12 / 2 % 2 : k % 2) == 0 ? 1.0 : -1.0;
}

/// Each PT-RS repeats the DM-RS of its layer in the first DM-RS symbol, but for amplitude and sign of w_f.
TEST(PtrsOfRandomAllocations, RepeatTheFirstDmrs) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (int trial = 0; trial < fewer_times(300); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        SlotAllocation allocation = random_allocation_with_ptrs(random);
        allocation.reserved.clear();
        if (trial % 2 == 0) allocation.ptrs->power_db = -2.0F;
        const phy::GridMapper map_to_grid(allocation);
        std::vector<cf32> pilots(map_to_grid.pilots_per_slot());
        phy::dmrs_pilots(allocation, random_int(random, 0, 9), pilots);
        std::vector<cf32> grid(map_to_grid.grid_size());
        map_to_grid(std::vector<cf32>(map_to_grid.symbols_per_slot()), pilots, grid);
        const double by_layers[] = {0.0, 3.0, 4.77, 6.0};
        const double amplitude =
            std::pow(10.0, (trial % 2 == 0 ? -2.0 : by_layers[allocation.layers() - 1]) / 20.0);
        const double beta = static_cast<double>(dmrs_amplitude(allocation.dmrs));
        for (int v = 0; v < allocation.layers(); ++v) {
            const int port = allocation.dmrs.ports[static_cast<std::size_t>(v)];
            const auto of_ptrs = ptrs_ports(allocation);
            const auto its = std::ranges::find(of_ptrs, port, &phy::PtrsPort::port);
            const auto at = [&](int symbol, int k) {
                return std::complex<double>(
                    grid[static_cast<std::size_t>((v * 14 + symbol) * allocation.subcarriers() + k)]);
            };
            for (int symbol = 0; symbol < 14; ++symbol) {
                for (int k = 0; k < allocation.subcarriers(); ++k) {
                    if (contains(allocation.dmrs.symbols, symbol)) continue;
                    const bool has_ptrs = its != of_ptrs.end() &&
                                          contains(ptrs_symbols(allocation), symbol) &&
                                          contains(its->subcarriers, k);
                    const double sign = port % 2 == 1 ? dmrs_sign(allocation, k) : 1.0;
                    const auto expected =
                        has_ptrs ? sign * amplitude / beta * at(allocation.dmrs.symbols.front(), k) : 0.0;
                    ASSERT_LE(std::abs(at(symbol, k) - expected), 1e-6) << v << ", " << symbol << ", " << k;
                }
            }
        }
    }
}

/// 52 resource blocks at 15 kHz, cell 1, RNTI 1, one DM-RS symbol.
SlotAllocation carrier_of_10_mhz() {
    SlotAllocation allocation;
    allocation.carrier_resource_blocks = 52;
    allocation.resource_blocks = {{0, 52}};
    allocation.dmrs.symbols = {2};
    allocation.dmrs.scrambling_id = 1;
    allocation.ptrs = PtrsConfig{.frequency_density = 4, .rnti = 1};
    return allocation;
}

/// The signs of I and Q of the first values, over all symbols.
std::vector<std::pair<int, int>> first_signs(const SlotAllocation& allocation, std::size_t count) {
    std::vector<cf32> pilots(phy::dmrs_pilot_count(allocation));
    phy::dmrs_pilots(allocation, 0, pilots);
    const std::vector<int> of_symbol = ptrs_ports(allocation).front().pilots;
    std::vector<std::pair<int, int>> signs;
    while (signs.size() < count)
        for (const int pilot : of_symbol) {
            const cf32 value = pilots[static_cast<std::size_t>(pilot)];
            signs.emplace_back(value.real() > 0.0F ? 1 : -1, value.imag() > 0.0F ? 1 : -1);
        }
    signs.resize(count);
    return signs;
}

using Signs = std::vector<std::pair<int, int>>;

/// Values that the documentation of MATLAB's 5G Toolbox prints for nrPDSCHPTRS and nrPDSCHPTRSIndices.
TEST(Ptrs, OfPdschAreThoseOfMatlab) {
    SlotAllocation allocation = carrier_of_10_mhz();
    allocation.ptrs->time_density = 2;
    allocation.ptrs->resource_element_offset = 2;
    const std::vector<phy::PtrsPort> ports = ptrs_ports(allocation);
    EXPECT_EQ(ptrs_symbols(allocation).size() * ports[0].subcarriers.size(), 78U);
    const std::vector<int> first(ports[0].subcarriers.begin(), ports[0].subcarriers.begin() + 10);
    EXPECT_EQ(first, (std::vector<int>{18, 66, 114, 162, 210, 258, 306, 354, 402, 450}));
    EXPECT_EQ(first_signs(allocation, 15), (Signs{{-1, -1},
                                                  {-1, -1},
                                                  {1, -1},
                                                  {1, -1},
                                                  {1, -1},
                                                  {-1, -1},
                                                  {-1, 1},
                                                  {-1, -1},
                                                  {-1, 1},
                                                  {1, 1},
                                                  {-1, 1},
                                                  {-1, -1},
                                                  {1, -1},
                                                  {-1, -1},
                                                  {-1, -1}}));
}

/// And for nrPUSCHPTRS and nrPUSCHPTRSIndices, before precoding.
TEST(Ptrs, OfPuschAreThoseOfMatlab) {
    SlotAllocation allocation = carrier_of_10_mhz();
    allocation.ptrs->resource_element_offset = 3;
    EXPECT_EQ(ptrs_symbols(allocation).size() * ptrs_ports(allocation)[0].subcarriers.size(), 169U);
    EXPECT_EQ(first_signs(allocation, 9),
              (Signs{{-1, 1}, {-1, 1}, {1, 1}, {-1, -1}, {-1, -1}, {-1, 1}, {-1, 1}, {-1, -1}, {1, -1}}));
    allocation.ptrs->time_density = 2;
    EXPECT_EQ(ptrs_symbols(allocation).size() * ptrs_ports(allocation)[0].subcarriers.size(), 312U / 4);
    EXPECT_EQ(ptrs_ports(allocation)[0].subcarriers[0], 20);
}

TEST(Ptrs, AreNotSentOnReservedElements) {
    SlotAllocation allocation = carrier_of_10_mhz();
    const int k = ptrs_ports(allocation)[0].subcarriers[1];
    allocation.reserved = {{.symbols = {5}, .resource_blocks = {k / 12, 1}, .subcarriers = {k % 12}}};
    const phy::GridMapper map_to_grid(allocation);
    std::vector<cf32> grid(map_to_grid.grid_size());
    map_to_grid(std::vector<cf32>(map_to_grid.symbols_per_slot()),
                std::vector<cf32>(map_to_grid.pilots_per_slot(), cf32(1.0F)), grid);
    EXPECT_EQ(grid[static_cast<std::size_t>(4 * 624 + k)], cf32(1.0F));
    EXPECT_EQ(grid[static_cast<std::size_t>(5 * 624 + k)], cf32(0.0F));
}

void precode(SlotAllocation& allocation) {
    allocation.dmrs.transform_precoding = true;
    allocation.dmrs.cdm_groups_without_data = 2;
    allocation.ptrs->frequency_density = 2;
}

/// Samples of PT-RS and data share those of the slot, and the resource map counts the data.
TEST(Ptrs, WithTransformPrecodingAreSamplesBeforeTheDft) {
    SlotAllocation allocation = carrier_of_10_mhz();
    precode(allocation);
    allocation.ptrs = PtrsConfig{.time_density = 2, .groups = 4, .samples_per_group = 2};
    EXPECT_EQ(ptrs_symbols(allocation), (std::vector<int>{0, 4, 6, 8, 10, 12}));
    EXPECT_EQ(ptrs_ports(allocation)[0].subcarriers,
              (std::vector<int>{77, 78, 233, 234, 389, 390, 545, 546}));
    const phy::PrecoderInput samples = precoder_input(allocation);
    EXPECT_EQ(samples.ptrs.size(), 6U * 8U);
    EXPECT_EQ(samples.data.size(), phy::ResourceMap(allocation).elements());
    EXPECT_EQ(samples.ptrs[8], 3U * 624U + 77U);  // of symbol 4, behind three with data
    std::vector<std::uint32_t> all = samples.data;
    all.insert(all.end(), samples.ptrs.begin(), samples.ptrs.end());
    std::ranges::sort(all);
    EXPECT_EQ(all.size(), 13U * 624U);
    for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], i);
    EXPECT_THROW(static_cast<void>(ptrs_allocation(allocation)), phy::ArgumentError);
    EXPECT_NEAR(ptrs_amplitude(allocation, phy::Modulation::qam16), 3.0 / std::sqrt(5.0), 1e-6);
    EXPECT_NEAR(ptrs_amplitude(allocation, phy::Modulation::pi2_bpsk), 1.0, 1e-6);
    EXPECT_THROW(static_cast<void>(precoder_input(carrier_of_10_mhz())), phy::ArgumentError);
}

struct Refusal {
    const char* named;
    std::function<void(SlotAllocation&)> spoil;
};

const Refusal refusals[] = {
    {"time_density 3", [](auto& a) { a.ptrs->time_density = 3; }},
    {"frequency_density 1", [](auto& a) { a.ptrs->frequency_density = 1; }},
    {"resource_element_offset 4", [](auto& a) { a.ptrs->resource_element_offset = 4; }},
    {"rnti 65536", [](auto& a) { a.ptrs->rnti = 65536; }},
    {"PT-RS power_db 61", [](auto& a) { a.ptrs->power_db = 61.0F; }},
    {"PT-RS port 4", [](auto& a) { a.ptrs->ports = {4}; }},
    {"PT-RS port -1",
     [](auto& a) {
         a.ptrs->ports = {0, -1};
     }},
    {"PT-RS port 6", [](auto& a) { a.dmrs.type = 2, a.ptrs->ports = {6}; }},
    {"PT-RS port 4",
     [](auto& a) {
         a.dmrs.length = 2, a.dmrs.symbols = {2, 3}, a.dmrs.ports = {5, 4};
     }},
    {"PT-RS ports has 2",
     [](auto& a) {
         a.ptrs->ports = {1, 1};
     }},
    {"PT-RS ports has 3",
     [](auto& a) {
         a.ptrs->ports = {0, 1, 2};
     }},
    {"PT-RS time_density 4: expected 1 or 2 with transform precoding",
     [](auto& a) {
         precode(a);
         a.ptrs->time_density = 4;
     }},
    {"PT-RS in 8 groups of 2 samples: expected 2 x 2",
     [](auto& a) {
         precode(a);
         a.ptrs->groups = 8;
     }},
    {"PT-RS in 3 groups of 4 samples",
     [](auto& a) {
         precode(a);
         a.ptrs->groups = 3;
         a.ptrs->samples_per_group = 4;
     }},
    {"PT-RS groups 4: expected 2, the default, without transform precoding",
     [](auto& a) { a.ptrs->groups = 4; }},
    {"PT-RS resource_element_offset 1: expected 0, the default, with transform precoding",
     [](auto& a) {
         precode(a);
         a.ptrs->resource_element_offset = 1;
     }},
    {"8 groups of 4 samples overlap: expected more resource blocks than 2",
     [](auto& a) {
         precode(a);
         a.resource_blocks = {{.first = 0, .count = 2}};
         a.ptrs->groups = 8;
         a.ptrs->samples_per_group = 4;
     }},
    {"PT-RS ports has 1 elements: expected none with transform precoding",
     [](auto& a) {
         precode(a);
         a.ptrs->ports = {1};
     }},
};

TEST(CheckOfPtrs, NamesWhatItRefuses) {
    check(carrier_of_10_mhz());
    for (const Refusal& refusal : refusals) {
        SlotAllocation allocation = carrier_of_10_mhz();
        refusal.spoil(allocation);
        try {
            check(allocation);
            ADD_FAILURE() << "no error that names " << refusal.named;
        } catch (const phy::ArgumentError& error) {
            EXPECT_NE(std::string(error.what()).find(refusal.named), std::string::npos) << error.what();
        }
    }
    SlotAllocation without = carrier_of_10_mhz();
    without.ptrs.reset();
    EXPECT_THROW(static_cast<void>(ptrs_symbols(without)), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(ptrs_ports(without)), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(ptrs_allocation(without)), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(ptrs_amplitude(without, phy::Modulation::qpsk)), phy::ArgumentError);
}

}  // namespace
