#include "phy/dmrs/slot_allocation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "phy/core/error.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::ResourceMap;
using phy::SlotAllocation;

constexpr unsigned seed = 6316;

/// Whether a subcarrier of a resource block in a DM-RS symbol belongs to a CDM group without data.
bool is_without_data(const phy::DmrsConfig& dmrs, int k) {
    const int group = dmrs.type == 1 ? k % 2 : k % 6 / 2;
    return group < dmrs.cdm_groups_without_data;
}

bool contains(const std::vector<int>& values, int value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

bool carries_data(const SlotAllocation& a, int symbol, int block, int k) {
    if (symbol < a.first_symbol || symbol >= a.first_symbol + a.symbols) return false;
    if (contains(a.dmrs.symbols, symbol) && is_without_data(a.dmrs, k)) return false;
    for (const phy::ReservedElements& r : a.reserved) {
        const bool in_range =
            block >= r.resource_blocks.first && block < r.resource_blocks.first + r.resource_blocks.count;
        if (in_range && contains(r.symbols, symbol) && contains(r.subcarriers, k)) return false;
    }
    return true;
}

/// The entries, one resource element after another in the order of the codeword.
std::vector<ResourceMap::Entry> expected_entries(const SlotAllocation& a, std::size_t& elements) {
    std::vector<ResourceMap::Entry> entries(static_cast<std::size_t>(14 * a.carrier_resource_blocks));
    elements = 0;
    for (int symbol = 0; symbol < 14; ++symbol) {
        for (const phy::ResourceBlocks& range : a.resource_blocks) {
            for (int block = range.first; block < range.first + range.count; ++block) {
                auto& entry = entries[static_cast<std::size_t>(symbol * a.carrier_resource_blocks + block)];
                for (int k = 0; k < 12; ++k) {
                    if (!carries_data(a, symbol, block, k)) continue;
                    if (entry.mask == 0) entry.first = static_cast<std::uint32_t>(elements);
                    entry.mask |= 1U << k;
                    ++elements;
                }
            }
        }
    }
    return entries;
}

TEST(ResourceMapOfRandomAllocations, HasEveryElementInOrder) {
    std::mt19937 random(seed);
    for (int trial = 0; trial < fewer_times(3000); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        const SlotAllocation allocation = random_allocation(random, trial % 10 == 0 ? 275 : 40);
        std::size_t elements = 0;
        const auto expected = expected_entries(allocation, elements);
        if (elements == 0) {
            EXPECT_THROW(check(allocation), phy::ArgumentError);
            continue;
        }
        check(allocation);
        const ResourceMap map(allocation);
        ASSERT_EQ(map.elements(), elements);
        ASSERT_TRUE(std::equal(map.entries().begin(), map.entries().end(), expected.begin(), expected.end()));
    }
}

TEST(ResourceMap, OfAKnownAllocation) {
    SlotAllocation allocation;
    allocation.carrier_resource_blocks = 4;
    allocation.resource_blocks = {{3, 1}, {0, 2}};
    allocation.dmrs.cdm_groups_without_data = 1;
    allocation.reserved = {{{0}, {1, 1}, {0, 11}}};
    const ResourceMap map(allocation);
    const auto entry = [&](std::size_t symbol, std::size_t block) {
        return map.entries()[4 * symbol + block];
    };
    EXPECT_EQ(entry(0, 3), (ResourceMap::Entry{0, 0xFFF}));
    EXPECT_EQ(entry(0, 0), (ResourceMap::Entry{12, 0xFFF}));
    EXPECT_EQ(entry(0, 1), (ResourceMap::Entry{24, 0x7FE}));
    EXPECT_EQ(entry(0, 2), (ResourceMap::Entry{0, 0}));
    EXPECT_EQ(entry(1, 3), (ResourceMap::Entry{34, 0xFFF}));
    EXPECT_EQ(entry(2, 3), (ResourceMap::Entry{70, 0xAAA}));
    EXPECT_EQ(map.elements(), 12U * 36 + 2 * 18 - 2);
}

SlotAllocation valid_allocation() {
    SlotAllocation allocation;
    allocation.carrier_resource_blocks = 50;
    allocation.first_crb = 10;
    allocation.resource_blocks = {{20, 10}, {0, 5}};
    return allocation;
}

struct Refusal {
    const char* named;
    std::function<void(SlotAllocation&)> spoil;
};

void transform_precode(SlotAllocation& a) {
    a.resource_blocks = {{0, 5}};
    a.dmrs.transform_precoding = true;
}

const Refusal refusals[] = {
    {"carrier_resource_blocks 0", [](auto& a) { a.carrier_resource_blocks = 0; }},
    {"carrier_resource_blocks 276", [](auto& a) { a.carrier_resource_blocks = 276; }},
    {"first_crb -1", [](auto& a) { a.first_crb = -1; }},
    {"first_crb 2147483647", [](auto& a) { a.first_crb = 2147483647; }},
    {"resource_blocks is empty", [](auto& a) { a.resource_blocks.clear(); }},
    {"resource_blocks has 0", [](auto& a) { a.resource_blocks[1].count = 0; }},
    {"resource_blocks has -1", [](auto& a) { a.resource_blocks[1].count = -1; }},
    {"resource_blocks has 5 resource blocks from -1", [](auto& a) { a.resource_blocks[1].first = -1; }},
    {"resource_blocks has 31", [](auto& a) { a.resource_blocks[0].count = 31; }},
    {"resource_blocks has 2147483647", [](auto& a) { a.resource_blocks[0].count = 2147483647; }},
    {"from 50 on",
     [](auto& a) {
         a.resource_blocks[0] = {50, 1};
     }},
    {"resource_blocks has 20 twice", [](auto& a) { a.resource_blocks[1].count = 21; }},
    {"reference_crb -1", [](auto& a) { a.dmrs.reference_crb = -1; }},
    {"reference_crb 11", [](auto& a) { a.dmrs.reference_crb = 11; }},
    {"first_symbol -1", [](auto& a) { a.first_symbol = -1; }},
    {"first_symbol 14", [](auto& a) { a.first_symbol = 14; }},
    {"symbols 0", [](auto& a) { a.symbols = 0; }},
    {"symbols 14", [](auto& a) { a.first_symbol = 1; }},
    {"symbols 2147483647", [](auto& a) { a.symbols = 2147483647; }},
    {"DM-RS symbols has 0", [](auto& a) { a.dmrs.symbols.clear(); }},
    {"DM-RS symbol 2:", [](auto& a) { a.first_symbol = 3, a.symbols = 11; }},
    {"DM-RS symbol 11:", [](auto& a) { a.symbols = 11; }},
    {"DM-RS symbol 2 comes after 2",
     [](auto& a) {
         a.dmrs.symbols = {2, 2};
     }},
    {"DM-RS symbol 2 comes after 11",
     [](auto& a) {
         a.dmrs.symbols = {11, 2};
     }},
    {"pairs",
     [](auto& a) {
         a.dmrs.length = 2, a.dmrs.symbols = {2, 3, 10};
     }},
    {"DM-RS symbol 4 comes after 2",
     [](auto& a) {
         a.dmrs.length = 2, a.dmrs.symbols = {2, 4};
     }},
    {"DM-RS type 0", [](auto& a) { a.dmrs.type = 0; }},
    {"DM-RS type 3", [](auto& a) { a.dmrs.type = 3; }},
    {"DM-RS length 0", [](auto& a) { a.dmrs.length = 0; }},
    {"DM-RS length 3", [](auto& a) { a.dmrs.length = 3; }},
    {"cdm_groups_without_data 0", [](auto& a) { a.dmrs.cdm_groups_without_data = 0; }},
    {"cdm_groups_without_data 3", [](auto& a) { a.dmrs.cdm_groups_without_data = 3; }},
    {"cdm_groups_without_data 4", [](auto& a) { a.dmrs.type = 2, a.dmrs.cdm_groups_without_data = 4; }},
    {"cdm_groups_without_data 1",
     [](auto& a) {
         a.dmrs.ports = {0, 3}, a.dmrs.cdm_groups_without_data = 1;
     }},
    {"ports has 0", [](auto& a) { a.dmrs.ports.clear(); }},
    {"ports has 5",
     [](auto& a) {
         a.dmrs.length = 2, a.dmrs.ports = {0, 1, 2, 3, 4};
     }},
    {"ports has 1 twice",
     [](auto& a) {
         a.dmrs.ports = {1, 0, 1};
     }},
    {"DM-RS port -1", [](auto& a) { a.dmrs.ports = {-1}; }},
    {"DM-RS port 4", [](auto& a) { a.dmrs.ports = {4}; }},
    {"DM-RS port 6", [](auto& a) { a.dmrs.type = 2, a.dmrs.ports = {6}; }},
    {"scrambling_id 65536", [](auto& a) { a.dmrs.scrambling_id = 65536; }},
    {"n_scid 2", [](auto& a) { a.dmrs.n_scid = 2; }},
    {"n_scid -1", [](auto& a) { a.dmrs.n_scid = -1; }},
    {"power_db 61", [](auto& a) { a.dmrs.power_db = 61.0F; }},
    {"power_db nan", [](auto& a) { a.dmrs.power_db = std::nanf(""); }},
    {"hopping is number 3", [](auto& a) { a.dmrs.hopping = static_cast<phy::SequenceHopping>(3); }},
    {"hopping", [](auto& a) { a.dmrs.hopping = phy::SequenceHopping::group; }},
    {"type 2", [](auto& a) { transform_precode(a), a.dmrs.type = 2; }},
    {"ports has 2",
     [](auto& a) {
         transform_precode(a), a.dmrs.ports = {0, 1};
     }},
    {"cdm_groups", [](auto& a) { transform_precode(a), a.dmrs.cdm_groups_without_data = 1; }},
    {"resource_blocks has 2 ranges",
     [](auto& a) {
         transform_precode(a), a.resource_blocks = {{0, 1}, {1, 1}};
     }},
    {"scrambling_id 1008", [](auto& a) { transform_precode(a), a.dmrs.scrambling_id = 1008; }},
    {"reserved has 1 resource blocks from 50",
     [](auto& a) {
         a.reserved = {{{0}, {50, 1}, {0}}};
     }},
    {"reserved has 0",
     [](auto& a) {
         a.reserved = {{{0}, {0, 0}, {0}}};
     }},
    {"reserved symbol 14",
     [](auto& a) {
         a.reserved = {{{14}, {0, 1}, {0}}};
     }},
    {"reserved symbol -1",
     [](auto& a) {
         a.reserved = {{{-1}, {0, 1}, {0}}};
     }},
    {"reserved subcarrier 12",
     [](auto& a) {
         a.reserved = {{{0}, {0, 1}, {12}}};
     }},
    {"reserved subcarrier -1",
     [](auto& a) {
         a.reserved = {{{0}, {0, 1}, {-1}}};
     }},
    {"erased subcarrier -1",
     [](auto& a) {
         a.erased_subcarriers = {0, -1};
     }},
    {"erased_subcarriers take all even DM-RS of port 0 in 1 resource blocks from 2",
     [](auto& a) {
         a.resource_blocks = {{5, 3}, {2, 1}}, a.dmrs.type = 1, a.dmrs.ports = {0},
         a.erased_subcarriers = {24, 28, 32};
     }},
    {"more than 4 neighbours",
     [](auto& a) {
         a.erased_subcarriers = {303, 300, 301, 304, 302};
     }},
    {"erased subcarrier 600", [](auto& a) { a.erased_subcarriers = {600}; }},
    {"no resource element", [](auto& a) { a.first_symbol = 2, a.symbols = 1, a.dmrs.symbols = {2}; }},
};

TEST(CheckOfAnAllocation, NamesWhatItRefuses) {
    check(valid_allocation());
    SlotAllocation transform_precoded = valid_allocation();
    transform_precode(transform_precoded);
    check(transform_precoded);
    for (const Refusal& refusal : refusals) {
        SlotAllocation allocation = valid_allocation();
        refusal.spoil(allocation);
        try {
            check(allocation);
            ADD_FAILURE() << "no error that names " << refusal.named;
        } catch (const phy::ArgumentError& error) {
            const std::string what = error.what();
            EXPECT_NE(what.find(refusal.named), std::string::npos)
                << what << " does not name " << refusal.named;
            EXPECT_EQ(what.find('\n'), std::string::npos);
        }
        EXPECT_THROW(ResourceMap{allocation}, phy::ArgumentError);
    }
}

}  // namespace
