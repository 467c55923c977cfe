#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/receiver/acquisition.hpp"
#include "receiver/recording.hpp"

namespace {

using phy_test::Recording;
using phy_test::RecordingConfig;

phy::Link plain_link(int blocks) {
    phy::Link link;
    link.carrier = {.subcarrier_spacing = 30000,
                    .cell_id = 1,
                    .sample_rate = 15.36e6,
                    .center_frequency = 3.5e9,
                    .first_slot = 3};
    link.allocation.carrier_resource_blocks = 38;
    link.allocation.first_crb = 20;
    link.allocation.resource_blocks = {{38 - blocks, blocks}};
    link.allocation.dmrs.scrambling_id = 41;
    return link;
}

phy::ReceiverConfig receiver_of(const RecordingConfig& config) {
    return {.link = config.link, .antennas = config.antennas};
}

std::optional<phy::FoundSlot> find(const RecordingConfig& config, const Recording& recording) {
    return phy::find_first_slot(phy::Host(), receiver_of(config), recording.samples());
}

struct Case {
    std::string name;
    RecordingConfig recording;
    int tolerance = 1;  ///< samples
};

std::vector<Case> cases() {
    std::vector<Case> all;
    const auto add = [&](const std::string& name, int blocks, int tolerance, const auto& change) {
        RecordingConfig config;
        config.link = plain_link(blocks);
        config.silence = 1234;
        change(config);
        config.seed = static_cast<unsigned>(all.size() + 1);
        all.push_back({name, config, tolerance});
    };
    const auto nothing = [](RecordingConfig&) {};
    add("whole_carrier", 38, 0, nothing);
    add("six_blocks", 6, 3, nothing);
    add("one_block", 1, 20, nothing);
    add("one_block_one_symbol", 1, 20, [](RecordingConfig& config) {
        config.link.allocation.dmrs.symbols = {3};
        config.snr_db = 30.0;
    });
    add("one_block_among_others", 1, 20, [](RecordingConfig& config) { config.fills_carrier = true; });
    add("data_beside_pilots", 4, 5, [](RecordingConfig& config) {
        config.link.allocation.dmrs.cdm_groups_without_data = 1;
        config.fills_carrier = true;
    });
    add("type_2", 8, 3, [](RecordingConfig& config) {
        config.link.allocation.dmrs.type = 2;
        config.link.allocation.dmrs.ports = {2, 3};
        config.antennas = 2;
    });
    add("four_layers", 24, 1, [](RecordingConfig& config) {
        config.link.allocation.dmrs.ports = {0, 1, 2, 3};
        config.antennas = 4;
    });
    add("double_symbol", 12, 2, [](RecordingConfig& config) {
        config.link.allocation.dmrs.length = 2;
        config.link.allocation.dmrs.symbols = {2, 3};
        config.link.allocation.dmrs.ports = {0, 4};
        config.antennas = 2;
    });
    add("offset_up", 24, 1, [](RecordingConfig& config) { config.frequency = 3000.0; });
    add("offset_down", 2, 10, [](RecordingConfig& config) { config.frequency = -3000.0; });
    add("shifted", 10, 3, [](RecordingConfig& config) {
        config.link.carrier.frequency_shift = 987654.5;
        config.link.carrier.k0 = 6;
    });
    add("low_power", 38, 1, [](RecordingConfig& config) { config.snr_db = -5.0; });
    add("paths", 38, 1, [](RecordingConfig& config) {
        config.delays = {0, 7, 19};
        config.antennas = 2;
    });
    add("listed_slots", 20, 1, [](RecordingConfig& config) {
        config.link.slots = {4, 5};
        config.slots = 4;
    });
    add("largest_spacing", 10, 3, [](RecordingConfig& config) {
        config.link.carrier.subcarrier_spacing = 120000;
        config.link.carrier.sample_rate = 512 * 120000.0;
        config.link.carrier.first_slot = 77;
    });
    add("largest_transform", 50, 10, [](RecordingConfig& config) {
        config.link.carrier.subcarrier_spacing = 15000;
        config.link.carrier.sample_rate = 8192 * 15000.0;
        config.link.carrier.first_slot = 9;
        config.link.allocation.carrier_resource_blocks = 270;
        config.link.allocation.resource_blocks = {{100, 30}, {10, 20}};
    });
    return all;
}

class FindSlot : public ::testing::TestWithParam<Case> {};

TEST_P(FindSlot, FindsWhereItBegins) {
    const auto& [name, config, tolerance] = GetParam();
    const Recording recording(config);
    const auto found = find(config, recording);
    ASSERT_TRUE(found);
    const int slot = config.link.slots.empty() ? 0 : 1;
    EXPECT_NEAR(static_cast<double>(found->first_sample), static_cast<double>(recording.begin_of(slot)),
                tolerance);
    EXPECT_GT(found->correlation, config.snr_db < 0.0 ? 0.2 : 0.5);
    EXPECT_LE(found->correlation, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Recordings, FindSlot, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
