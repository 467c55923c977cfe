#include "phy/receiver/link.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "phy/resampler/resampler.hpp"
#include "receiver/link_texts.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Link;
using phy::parse_link;

/// Written out, so that a key that is read into the wrong place is seen.
Link full() {
    Link link;
    link.direction = phy::Direction::uplink;
    link.carrier = {.subcarrier_spacing = 30000,
                    .k0 = 0,
                    .cell_id = 1,
                    .sample_rate = 122.88e6,
                    .center_frequency = 3.75e9,
                    .frequency_shift = 0.0,
                    .first_slot = 0,
                    .first_sample = 0};
    link.allocation = {
        .carrier_resource_blocks = 273,
        .first_crb = 0,
        .resource_blocks = {{.first = 0, .count = 273}},
        .first_symbol = 0,
        .symbols = 14,
        .dmrs = {},
        .reserved = {
            {.symbols = {0, 1}, .resource_blocks = {.first = 0, .count = 20}, .subcarriers = {0, 4, 8}}}};
    link.allocation.dmrs = {.type = 1,
                            .length = 1,
                            .ports = {0},
                            .cdm_groups_without_data = 2,
                            .symbols = {2, 11},
                            .scrambling_id = 1,
                            .n_scid = 0,
                            .reference_crb = 0,
                            .power_db = 3.0F};
    link.scrambling = {.rnti = 17921, .id = 1, .codeword = 0};
    link.modulation = phy::Modulation::qam256;
    link.slots = {0, 1, 2};
    link.coding = {
        .transport_block_size = 3752, .redundancy_version = 2, .overhead = 6, .limited_buffer = 1'277'992};
    return link;
}

TEST(LinkTest, EveryKeyIsReadToItsPlace) {
    EXPECT_EQ(parse_link(full_link), full());
}

/// None of these values is a default, and no two are the same.
TEST(LinkTest, EveryValueIsReadToItsPlace) {
    const Link link = parse_link(R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 60000, "resource_blocks": 51, "first_crb": 7, "k0": -6,
                    "cell_id": 1003, "sample_rate": 61440000.0, "center_frequency": 2.6e9,
                    "frequency_shift": -7500.5, "first_slot": 33, "first_sample": 9007199254740992},
        "allocation": {"rnti": 65535, "scrambling_id": 1023, "codeword": 1, "modulation": "64QAM",
                       "layers": 3, "resource_blocks": [[40, 5], [9, 2], [20, 17]], "symbols": [1, 12],
                       "slots": [39, 0, 4], "reserved": [], "erased_subcarriers": [305, 611],
                       "dmrs": {"type": 2, "length": 2, "ports": [4, 10, 0], "cdm_groups_without_data": 3,
                                "symbols": [3, 4, 9, 10], "scrambling_id": 65534, "n_scid": 1,
                                "reference_crb": 6, "power_db": -1.25},
                       "ptrs": {"time_density": 4, "frequency_density": 2, "resource_element_offset": 3,
                                "ports": [5], "power_db": 4.5}},
        "coding": {"code_rate": 0.75, "transport_block_size": 3104, "redundancy_version": 3,
                   "overhead": 18, "limited_buffer": 40960}})");
    Link expected;
    expected.direction = phy::Direction::downlink;
    expected.carrier = {.subcarrier_spacing = 60000,
                        .k0 = -6,
                        .cell_id = 1003,
                        .sample_rate = 61.44e6,
                        .center_frequency = 2.6e9,
                        .frequency_shift = -7500.5,
                        .first_slot = 33,
                        .first_sample = std::uint64_t{1} << 53};
    expected.allocation = {
        .carrier_resource_blocks = 51,
        .first_crb = 7,
        .resource_blocks = {{.first = 40, .count = 5}, {.first = 9, .count = 2}, {.first = 20, .count = 17}},
        .first_symbol = 1,
        .symbols = 12,
        .dmrs = {},
        .reserved = {},
        .erased_subcarriers = {305, 611}};
    expected.allocation.dmrs = {.type = 2,
                                .length = 2,
                                .ports = {4, 10, 0},
                                .cdm_groups_without_data = 3,
                                .symbols = {3, 4, 9, 10},
                                .scrambling_id = 65534,
                                .n_scid = 1,
                                .reference_crb = 6,
                                .power_db = -1.25F};
    expected.allocation.ptrs = phy::PtrsConfig{.time_density = 4,
                                               .frequency_density = 2,
                                               .resource_element_offset = 3,
                                               .ports = {5},
                                               .rnti = 65535,
                                               .power_db = 4.5F};
    expected.scrambling = {.rnti = 65535, .id = 1023, .codeword = 1};
    expected.modulation = phy::Modulation::qam64;
    expected.slots = {39, 0, 4};
    expected.coding = {.code_rate = 0.75,
                       .transport_block_size = 3104,
                       .redundancy_version = 3,
                       .overhead = 18,
                       .limited_buffer = 40960};
    EXPECT_EQ(link, expected);
    EXPECT_EQ(parse_link(to_json(link)), link);
}

TEST(LinkTest, WhatIsLeftOutHasItsDefault) {
    const Link link = parse_link(short_link);
    Link expected;
    expected.carrier = {.subcarrier_spacing = 15000, .cell_id = 77};
    expected.allocation = {.carrier_resource_blocks = 25,
                           .first_crb = 0,
                           .resource_blocks = {{.first = 3, .count = 20}},
                           .dmrs = {},
                           .reserved = {}};
    expected.allocation.dmrs = {.type = 2,
                                .length = 1,
                                .ports = {0, 3},
                                .cdm_groups_without_data = 2,
                                .symbols = {2},
                                .scrambling_id = 77};
    expected.scrambling = {.rnti = 4660, .id = 77, .codeword = 0};
    EXPECT_EQ(link, expected);
    EXPECT_EQ(link.carrier.first_sample, 0U);
    EXPECT_EQ(link.carrier.sample_rate, std::nullopt);
    EXPECT_EQ(link.allocation.dmrs.power_db, std::nullopt);
    EXPECT_EQ(link.allocation.symbols, 14);
    EXPECT_EQ(parse_link(to_json(link)), link);
}

TEST(LinkTest, TheCellIsNotNeededWhereIdentitiesAre) {
    LinkJson json = without(full_link, "/carrier/cell_id");
    EXPECT_EQ(parse_link(json.dump()).carrier.cell_id, std::nullopt);
    json["allocation"]["dmrs"].erase("scrambling_id");
    expect_error(error_of(json), {"allocation.dmrs.scrambling_id: missing", "carrier.cell_id"});
}

TEST(LinkTest, FirstSampleMayBeSearched) {
    const Link link = parse_link(changed(full_link, "/carrier/first_sample", "auto").dump());
    EXPECT_EQ(link.carrier.first_sample, std::nullopt);
    EXPECT_EQ(parse_link(to_json(link)), link);
}

TEST(LinkTest, ReservedElementsMayLieInSeveralRanges) {
    const Link link = parse_link(
        changed(full_link, "/allocation/reserved/0/resource_blocks", LinkJson::parse("[[1, 2], [7, 1]]"))
            .dump());
    ASSERT_EQ(link.allocation.reserved.size(), 2U);
    EXPECT_EQ(link.allocation.reserved[0].resource_blocks, (phy::ResourceBlocks{.first = 1, .count = 2}));
    EXPECT_EQ(link.allocation.reserved[1].resource_blocks, (phy::ResourceBlocks{.first = 7, .count = 1}));
    EXPECT_EQ(link.allocation.reserved[1].symbols, (std::vector<int>{0, 1}));
    EXPECT_EQ(parse_link(to_json(link)), link);
}

TEST(LinkTest, TransformPrecodingHasItsOwnSequences) {
    LinkJson json = changed(full_link, "/allocation/transform_precoding", true);
    json["allocation"]["resource_blocks"] = {3, 270};
    expect_error(error_of(json), {"allocation.reserved has 1 entries", "none with transform precoding"});
    json["allocation"].erase("reserved");
    json["allocation"]["dmrs"]["hopping"] = "sequence";
    json["allocation"]["dmrs"]["scrambling_id"] = 1007;
    const Link link = parse_link(json.dump());
    EXPECT_TRUE(link.allocation.dmrs.transform_precoding);
    EXPECT_EQ(link.allocation.dmrs.hopping, phy::SequenceHopping::sequence);
    EXPECT_EQ(parse_link(to_json(link)), link);
    json["allocation"]["dmrs"]["hopping"] = "group";
    EXPECT_EQ(parse_link(json.dump()).allocation.dmrs.hopping, phy::SequenceHopping::group);

    json["allocation"]["dmrs"]["scrambling_id"] = 1008;
    expect_error(error_of(json), {"allocation.dmrs.scrambling_id is 1008", "1007"});
    json["allocation"]["dmrs"]["scrambling_id"] = 1;
    json["allocation"]["resource_blocks"] = {0, 273};
    expect_error(error_of(json), {"allocation.resource_blocks", "273", "2^a 3^b 5^c"});
    json["allocation"]["resource_blocks"] = {0, 270};
    json["direction"] = "downlink";
    expect_error(error_of(json), {"allocation.transform_precoding", "downlink"});
}

/// What docs/link.md shows.
TEST(LinkTest, ThePageIsRight) {
    Link expected = full();
    expected.slots = {};
    expected.coding = {};
    expected.allocation.reserved = {};
    expected.allocation.dmrs.power_db.reset();
    EXPECT_EQ(parse_link(link_of_page("link.md")), expected);
}

struct Vector {
    const char* name;
    int resource_blocks, symbols, slot, identity;
    const char* modulation;
    unsigned rnti;
    const char* dmrs;
    std::vector<int> placed;
};

/// The metadata of slots that Sionna 2.2.0 has transmitted: its positions follow from the mapping type.
const Vector sionna[] = {
    {"16qam_2layers_type2",
     40,
     14,
     0,
     462,
     "16qam",
     46490,
     R"({"type": 2, "length": 1, "additional_positions": 1, "cdm_groups_without_data": 2, "ports": [0, 1],
         "n_scid": 1, "scrambling_id": 4014})",
     {2, 11}},
    {"256qam_4layers_double_dmrs",
     40,
     14,
     19,
     999,
     "256qam",
     65535,
     R"({"type": 1, "length": 2, "additional_positions": 1, "cdm_groups_without_data": 1,
         "ports": [0, 1, 4, 5], "n_scid": 1, "scrambling_id": 999})",
     {2, 3, 10, 11}},
    {"64qam_1layer_dmrs_with_data",
     273,
     14,
     11,
     1007,
     "64qam",
     1,
     R"({"type": 1, "length": 1, "additional_positions": 3, "cdm_groups_without_data": 1, "ports": [0],
         "n_scid": 0, "scrambling_id": 1007})",
     {2, 5, 8, 11}},
    {"64qam_1layer_short",
     52,
     10,
     1,
     500,
     "64qam",
     256,
     R"({"type": 1, "length": 1, "additional_positions": 2, "cdm_groups_without_data": 2, "ports": [0],
         "n_scid": 0, "scrambling_id": 500})",
     {2, 6, 9}},
};

LinkJson link_of(const Vector& vector) {
    LinkJson dmrs = LinkJson::parse(vector.dmrs);
    dmrs["mapping_type"] = "A";
    dmrs["typeA_position"] = 2;
    return {{"direction", "uplink"},
            {"carrier",
             {{"subcarrier_spacing", 30000},
              {"resource_blocks", vector.resource_blocks},
              {"cell_id", vector.identity},
              {"first_slot", vector.slot}}},
            {"allocation",
             {{"rnti", vector.rnti},
              {"scrambling_id", vector.identity},
              {"modulation", vector.modulation},
              {"layers", dmrs["ports"].size()},
              {"resource_blocks", {0, vector.resource_blocks}},
              {"symbols", {0, vector.symbols}},
              {"slots", {vector.slot}},
              {"dmrs", dmrs}}}};
}

TEST(LinkTest, DmrsSymbolsFollowFromTheMappingType) {
    for (const Vector& vector : sionna) {
        SCOPED_TRACE(vector.name);
        LinkJson json = link_of(vector);
        const Link link = parse_link(json.dump());
        EXPECT_EQ(link.allocation.dmrs.symbols, vector.placed);
        EXPECT_EQ(link.allocation.symbols, vector.symbols);
        EXPECT_EQ(link.slots, std::vector<int>{vector.slot});
        EXPECT_EQ(parse_link(to_json(link)), link);
        json["allocation"]["dmrs"]["symbols"] = vector.placed;
        EXPECT_EQ(parse_link(json.dump()), link) << "both, and they agree";
        json["allocation"]["dmrs"]["symbols"] = {4};
        expect_error(error_of(json), {"allocation.dmrs.symbols is [4]", "mapping_type"});
    }
}

TEST(LinkTest, AMappingTypeIsComplete) {
    LinkJson json = link_of(sionna[0]);
    json["allocation"]["dmrs"].erase("typeA_position");
    expect_error(error_of(json), {"allocation.dmrs.typeA_position: missing"});
    json["allocation"]["dmrs"]["mapping_type"] = "B";
    EXPECT_EQ(parse_link(json.dump()).allocation.dmrs.symbols.front(), 0);
    json["allocation"]["dmrs"].erase("additional_positions");
    expect_error(error_of(json), {"allocation.dmrs.additional_positions: missing"});
    json["allocation"]["dmrs"].erase("mapping_type");
    expect_error(error_of(json), {"allocation.dmrs.symbols: missing", "mapping_type"});
    json["allocation"]["dmrs"]["additional_positions"] = 1;
    expect_error(error_of(json), {"allocation.dmrs.mapping_type: missing"});
}

TEST(LinkTest, AttributesOfTheCaptureCompleteIt) {
    const Link given = parse_link(full_link);
    EXPECT_EQ(complete_link(given, 1.0, 2.0), given) << "the link's own come first";
    EXPECT_EQ(complete_link(given, std::nullopt, std::nullopt), given);

    Link link = given;
    link.carrier.sample_rate.reset();
    link.carrier.center_frequency.reset();
    link.carrier.frequency_shift = 5e6;
    const Link complete = complete_link(link, 122.88e6, 3.755e9);
    EXPECT_EQ(complete.carrier.sample_rate, 122.88e6);
    EXPECT_EQ(complete.carrier.center_frequency, 3.75e9);
    EXPECT_EQ(fft_size(complete.carrier), 4096);
    EXPECT_THROW(static_cast<void>(complete_link(link, std::nullopt, 3.755e9)), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(complete_link(link, 122.88e6, std::nullopt)), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(complete_link(link, 61.44e6, 3.755e9)), phy::ArgumentError) << "narrow";
    EXPECT_EQ(complete_link(link, 100e6, 3.75e9).carrier.sample_rate, 100e6) << "to be resampled";
    EXPECT_THROW(static_cast<void>(complete_link(link, 122.88e6, 1e6)), phy::ArgumentError) << "below 0";
    EXPECT_THROW(static_cast<void>(fft_size(link.carrier)), phy::ArgumentError);
}

TEST(LinkTest, IdentitiesInHexadecimal) {
    LinkJson link = LinkJson::parse(full_link, nullptr, true, true);
    link["allocation"]["rnti"] = "0x4601";
    link["allocation"]["scrambling_id"] = "0x3Fe";
    EXPECT_EQ(parse_link(link.dump()).scrambling.rnti, 0x4601U);
    EXPECT_EQ(parse_link(link.dump()).scrambling.id, 0x3FEU);
}

TEST(LinkTest, RatesToResampleTo) {
    std::mt19937 random(random_seed());
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    Link link = parse_link(full_link);
    for (const int blocks : {273, 133, 51, 24, 6}) {
        link.allocation.carrier_resource_blocks = blocks;
        const double width = 12.0 * blocks * link.carrier.subcarrier_spacing;
        for (int i = 0; i < 50; ++i) {
            const double rate = std::round(width * 1.01 * std::pow(500e6 / width, unit(random)));
            link.carrier.sample_rate = rate;
            SCOPED_TRACE(std::to_string(blocks) + " blocks, rate " + std::to_string(rate));
            const phy::ResamplerConfig config = resampler_config(link);
            EXPECT_EQ(config.input_rate, rate);
            EXPECT_GE(config.bandwidth, width);
            EXPECT_GE(config.output_rate, 1.05 * width);
            link.carrier.sample_rate = config.output_rate;
            EXPECT_GE(fft_size(link.carrier) * link.carrier.subcarrier_spacing, width);
            EXPECT_EQ(resampler_config(link).output_rate, config.output_rate) << "stays";
            const phy::Resampler made(phy::Host(), config);
        }
        link.carrier.sample_rate = std::round(1.005 * width);
        EXPECT_THROW(static_cast<void>(resampler_config(link)), phy::ArgumentError);
        link.carrier.sample_rate.reset();
        EXPECT_THROW(static_cast<void>(resampler_config(link)), phy::ArgumentError);
    }
}

TEST(LinkTest, ShiftedCarriersLieWithinTheRateOfAnFft) {
    Link link = parse_link(full_link);
    link.allocation.carrier_resource_blocks = 51;
    link.carrier.k0 = 0;
    link.carrier.sample_rate = 768.0 * link.carrier.subcarrier_spacing;
    // And half a subcarrier: no filter is steeper.
    const double space = 0.5 * (769 - 51 * 12) * link.carrier.subcarrier_spacing;
    for (const double sign : {-1.0, 1.0}) {
        link.carrier.frequency_shift = sign * space;
        EXPECT_EQ(resampler_config(link).output_rate, link.carrier.sample_rate);
        link.carrier.frequency_shift = sign * (space + 1.0);
        EXPECT_THROW(static_cast<void>(resampler_config(link)), phy::ArgumentError);
    }
}

TEST(LinkTest, SizesOfTheFft) {
    phy::LinkCarrier carrier;
    for (int size = 0; size <= 9000; ++size) {
        int rest = size;
        for (const int prime : {5, 3, 2}) {
            while (rest != 0 && rest % prime == 0)
                rest /= prime;
        }
        const bool fits = size % 128 == 0 && rest == 1 && size <= 8192;
        carrier.sample_rate = 30000.0 * size;
        if (fits) {
            EXPECT_EQ(fft_size(carrier), size);
        } else {
            EXPECT_THROW(static_cast<void>(fft_size(carrier)), phy::ArgumentError) << size;
        }
    }
    for (const double rate : {-30000.0 * 128, 30000.0 * 128.5, 1e300, 0.0 / 0.0, 1.0 / 0.0}) {
        carrier.sample_rate = rate;
        EXPECT_THROW(static_cast<void>(fft_size(carrier)), phy::ArgumentError) << rate;
    }
}

TEST(LinkTest, SlotsOfAFrame) {
    for (const int numerology : {0, 1, 2, 3}) {
        const phy::LinkCarrier carrier = {.subcarrier_spacing = 15000 << numerology};
        EXPECT_EQ(slots_per_frame(carrier), 10 << numerology);
    }
    EXPECT_THROW(static_cast<void>(phy::slots_per_frame({.subcarrier_spacing = 45000})), phy::ArgumentError);
}

/// Links that no text can say.
TEST(LinkTest, StructsAreCheckedToo) {
    EXPECT_NO_THROW(check(full()));
    const auto expect_wrong = [](const auto& change) {
        Link link = full();
        change(link);
        EXPECT_THROW(check(link), phy::ArgumentError);
    };
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    expect_wrong([](Link& link) { link.direction = static_cast<phy::Direction>(2); });
    expect_wrong([](Link& link) { link.modulation = static_cast<phy::Modulation>(7); });
    expect_wrong([](Link& link) { link.carrier.subcarrier_spacing = 0; });
    expect_wrong([](Link& link) { link.carrier.cell_id = -1; });
    expect_wrong([](Link& link) { link.carrier.frequency_shift = nan; });
    expect_wrong([](Link& link) { link.carrier.center_frequency = nan; });
    expect_wrong([](Link& link) { link.carrier.sample_rate = nan; });
    expect_wrong([](Link& link) { link.scrambling.rnti = 65536; });
    expect_wrong(
        [](Link& link) { link.allocation.ptrs = phy::PtrsConfig{.rnti = link.scrambling.rnti + 1}; });
    expect_wrong([](Link& link) { link.slots = {-1}; });
    expect_wrong([](Link& link) { link.allocation.resource_blocks = {}; });
    expect_wrong([](Link& link) { link.allocation.dmrs.ports = {0, 1, 2, 3, 4}; });
}

TEST(LinkTest, FilesAreNamed) {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "link.json";
    std::ofstream(file) << full_link;
    EXPECT_EQ(phy::read_link(file), full());
    std::ofstream(file) << changed(full_link, "/carrier/k0", 3);
    const auto error_of_file = [](const std::filesystem::path& path) -> std::string {
        try {
            static_cast<void>(phy::read_link(path));
            return {};
        } catch (const phy::FileError& error) {
            return error.what();
        }
    };
    expect_error(error_of_file(file), {"link.json: carrier.k0 is 3", "-6, 0 or 6"});
    expect_error(error_of_file(directory.path() / "none.json"), {"none.json", "no such file"});
    expect_error(error_of_file(directory.path()), {directory.path().c_str(), "cannot be read"});
    const auto pipe = directory.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_error(error_of_file(pipe), {"pipe", "not a regular file"});
    std::ofstream(file) << std::string(std::size_t{3} << 20, ' ');
    expect_error(error_of_file(file), {"link.json", "at most 1048576"});
}

}  // namespace
