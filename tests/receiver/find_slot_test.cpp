#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
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
    add("far_offset", 20, 2, [](RecordingConfig& config) { config.frequency = 6000.0; });
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

RecordingConfig plain_recording(int blocks) {
    RecordingConfig config;
    config.link = plain_link(blocks);
    config.silence = 777;
    return config;
}

TEST(FindSlotTest, NothingIsInNoise) {
    for (const int blocks : {1, 2, 12, 38}) {
        for (unsigned seed = 1; seed <= 10; ++seed) {
            SCOPED_TRACE(testing::Message() << blocks << " blocks, seed " << seed);
            RecordingConfig config = plain_recording(blocks);
            config.snr_db = -80.0;
            config.antennas = static_cast<int>(seed % 4 + 1);
            config.seed = seed;
            const Recording recording(config);
            EXPECT_FALSE(find(config, recording));
        }
    }
}

TEST(FindSlotTest, OthersAreNotTakenForIt) {
    struct Change {
        const char* name;
        void (*make)(phy::Link&);
    };
    const Change changes[] = {
        {"identity", [](phy::Link& link) { link.allocation.dmrs.scrambling_id ^= 1; }},
        {"n_scid", [](phy::Link& link) { link.allocation.dmrs.n_scid = 1; }},
        {"common resource block", [](phy::Link& link) { link.allocation.first_crb += 1; }},
        {"slot", [](phy::Link& link) { link.slots = {17}; }},
    };
    for (const int blocks : {4, 16, 38}) {
        for (unsigned seed = 1; seed <= 5; ++seed) {
            RecordingConfig config = plain_recording(blocks);
            config.snr_db = 40.0;
            config.slots = 5;
            config.seed = seed;
            config.antennas = 2;
            const Recording recording(config);
            ASSERT_TRUE(find(config, recording));
            for (const auto& [name, change] : changes) {
                SCOPED_TRACE(testing::Message() << blocks << " blocks, seed " << seed << ", " << name);
                phy::ReceiverConfig other = receiver_of(config);
                change(other.link);
                EXPECT_FALSE(phy::find_first_slot(phy::Host(), other, recording.samples()));
            }
        }
    }
}

TEST(FindSlotTest, SlotsTogetherConvinceWhereOneDoesNot) {
    RecordingConfig config = plain_recording(1);
    config.link.allocation.dmrs.symbols = {2};
    config.snr_db = 8.0;
    config.slots = 1;
    EXPECT_FALSE(find(config, Recording(config)));
    config.slots = 8;
    const Recording recording(config);
    const auto found = find(config, recording);
    ASSERT_TRUE(found);
    EXPECT_NEAR(static_cast<double>(found->first_sample), static_cast<double>(recording.begin_of(0)), 36.0);
}

TEST(FindSlotTest, ASlotThatIsCutOffIsLeftForTheNextFrame) {
    RecordingConfig config = plain_recording(20);
    config.silence = -60;
    config.slots = 22;
    const Recording recording(config);
    const auto found = find(config, recording);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first_sample, static_cast<std::uint64_t>(recording.begin_of(20)));
}

TEST(FindSlotTest, TheFirstFrameCounts) {
    RecordingConfig config = plain_recording(20);
    config.slots = 45;
    const Recording recording(config);
    const auto found = find(config, recording);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first_sample, static_cast<std::uint64_t>(recording.begin_of(0)));
}

TEST(FindSlotTest, OfSlotsThatAreAlikeTheFirstCounts) {
    RecordingConfig config = plain_recording(10);
    config.link.allocation.dmrs.transform_precoding = true;
    config.link.allocation.dmrs.scrambling_id = 41;
    config.slots = 4;
    const Recording recording(config);
    const auto found = find(config, recording);
    ASSERT_TRUE(found);
    EXPECT_NEAR(static_cast<double>(found->first_sample), static_cast<double>(recording.begin_of(0)), 2.0);
}

/// A DM-RS symbol of a slot matches the others of the slots around it.
TEST(FindSlotTest, SymbolsThatAreAlikeDoNotCountAsAnotherSlot) {
    for (const std::vector<int>& symbols :
         {std::vector{2, 11}, std::vector{2, 7, 11}, std::vector{2, 5, 8, 11}}) {
        RecordingConfig config = plain_recording(20);
        config.link.allocation.dmrs.transform_precoding = true;
        config.link.allocation.dmrs.symbols = symbols;
        config.link.slots = {4, 5};
        config.link.carrier.first_slot = 0;
        config.slots = 20;
        const Recording recording(config);
        const auto found = find(config, recording);
        ASSERT_TRUE(found);
        EXPECT_NEAR(static_cast<double>(found->first_sample), static_cast<double>(recording.begin_of(4)),
                    2.0);
    }
}

TEST(FindSlotTest, SamplesThatAreNoNumbersSpoilNoOthers) {
    RecordingConfig config = plain_recording(20);
    const Recording recording(config);
    std::vector<phy::cf32> samples = recording.samples();
    samples[100] = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
    samples[samples.size() - 50] = {0.0F, std::numeric_limits<float>::infinity()};
    const auto found = phy::find_first_slot(phy::Host(), receiver_of(config), samples);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first_sample, static_cast<std::uint64_t>(recording.begin_of(0)));
}

TEST(FindSlotTest, IntegersAreFoundToo) {
    RecordingConfig config = plain_recording(20);
    config.antennas = 2;
    const Recording recording(config);
    std::vector<phy::ci16> wide;
    std::vector<phy::ci8> narrow;
    for (const phy::cf32 sample : recording.samples()) {
        const auto rounded = [&](float scale, float part) { return std::lround(scale * part); };
        wide.push_back({static_cast<std::int16_t>(rounded(3000.0F, sample.real())),
                        static_cast<std::int16_t>(rounded(3000.0F, sample.imag()))});
        narrow.push_back({static_cast<std::int8_t>(rounded(60.0F, sample.real())),
                          static_cast<std::int8_t>(rounded(60.0F, sample.imag()))});
    }
    const auto begin = static_cast<std::uint64_t>(recording.begin_of(0));
    EXPECT_EQ(phy::find_first_slot(phy::Host(), receiver_of(config), wide).value().first_sample, begin);
    EXPECT_EQ(phy::find_first_slot(phy::Host(), receiver_of(config), narrow).value().first_sample, begin);
}

TEST(FindSlotTest, EveryBackendFindsTheSame) {
    RecordingConfig config = plain_recording(5);
    config.antennas = 3;
    config.snr_db = 3.0;
    const Recording recording(config);
    const auto expected = find(config, recording);
    ASSERT_TRUE(expected);
    for (const phy::Backend backend : phy::Backend::all()) {
        if (backend.kind() == phy::Backend::Kind::cuda || !backend.supported()) continue;
        for (const int threads : {1, 3}) {
            const phy::Host host = phy::detail::host_of_exactly(threads, backend);
            const auto found = phy::find_first_slot(host, receiver_of(config), recording.samples());
            ASSERT_TRUE(found);
            EXPECT_EQ(found->first_sample, expected->first_sample) << backend.name();
            EXPECT_EQ(found->correlation, expected->correlation) << backend.name();
        }
    }
}

TEST(FindSlotTest, RefusesWhatCannotBe) {
    RecordingConfig config = plain_recording(5);
    config.antennas = 2;
    const Recording recording(config);
    const std::span<const phy::cf32> samples = recording.samples();
    phy::ReceiverConfig receiver = receiver_of(config);
    const auto search = [&](std::size_t count) {
        return phy::find_first_slot(phy::Host(), receiver, samples.first(count));
    };
    EXPECT_THROW(search(2 * 7000), phy::ArgumentError);      // less than a slot
    EXPECT_THROW(search(2 * 9000 + 1), phy::ArgumentError);  // antennas of two lengths
    receiver.input = phy::ReceiverInput::grid;
    EXPECT_THROW(search(2 * 9000), phy::ArgumentError);
    receiver = receiver_of(config);
    receiver.link.carrier.sample_rate.reset();
    EXPECT_THROW(search(2 * 9000), phy::ArgumentError);
    receiver = receiver_of(config);
    receiver.antennas = 17;
    EXPECT_THROW(search(17 * 1000), phy::ArgumentError);
}

}  // namespace
