// What a link says of the coding of its transport blocks.

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "phy/coding/transport_block_size.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/receiver/receiver.hpp"
#include "receiver/link_texts.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Link;
using phy::LinkCoding;
using phy::LinkUci;
using phy::parse_link;

LinkJson with_coding(const LinkJson& coding) {
    return changed(full_link, "/coding", coding);
}

/// By its index in the MCS table instead of a modulation.
LinkJson with_mcs(const LinkJson& allocation, const LinkJson& coding) {
    LinkJson json = without(full_link, "/allocation/modulation");
    json["allocation"].merge_patch(allocation);
    json["coding"] = coding;
    return json;
}

std::optional<LinkCoding> coding_of(const LinkJson& json) {
    const Link link = parse_link(json.dump());
    EXPECT_EQ(parse_link(to_json(link)), link);
    return link.coding;
}

TEST(LinkCodingTest, CodeRateInBothWords) {
    EXPECT_EQ(coding_of(with_coding({{"code_rate", 0.75}})), LinkCoding{.code_rate = 0.75});
    EXPECT_EQ(coding_of(with_coding({{"code_rate", 1}})), LinkCoding{.code_rate = 1.0});
    EXPECT_EQ(coding_of(with_coding({{"code_rate_x1024", 682.5}})), LinkCoding{.code_rate = 682.5 / 1024});
    EXPECT_EQ(coding_of(with_coding({{"transport_block_size", 3752}})),
              LinkCoding{.transport_block_size = 3752});
    EXPECT_EQ(coding_of(without(full_link, "/coding")), std::nullopt);
}

struct McsRates {
    const char* direction;
    const char* table;
    bool transform_precoding;
    bool pi2_bpsk;
    std::vector<double> code_rates_x1024;
};

/// decode_mcs_index() of Sionna 2.2.
const McsRates rates_of_sionna[] = {
    {"downlink", "qam64", false, false, {120, 157, 193, 251, 308, 379, 449, 526, 602, 679,
                                         340, 378, 434, 490, 553, 616, 658, 438, 466, 517,
                                         567, 616, 666, 719, 772, 822, 873, 910, 948}},
    {"uplink", "qam256", false, false, {120,   193, 308, 449, 602, 378, 434,   490, 553, 616,
                                        658,   466, 517, 567, 616, 666, 719,   772, 822, 873,
                                        682.5, 711, 754, 797, 841, 885, 916.5, 948}},
    {"uplink", "qam64LowSE", false, false, {30,  40,  50,  64,  78,  99,  120, 157, 193, 251,
                                            308, 379, 449, 526, 602, 340, 378, 434, 490, 553,
                                            616, 438, 466, 517, 567, 616, 666, 719, 772}},
    {"downlink", "qam1024", false, false, {120, 193, 449, 378,   490, 616,   466,   517,   567,
                                           616, 666, 719, 772,   822, 873,   682.5, 711,   754,
                                           797, 841, 885, 916.5, 948, 805.5, 853,   900.5, 948}},
    {"uplink", "qam64", true, false, {120, 157, 193, 251, 308, 379, 449, 526, 602, 679, 340, 378, 434, 490,
                                      553, 616, 658, 466, 517, 567, 616, 666, 719, 772, 822, 873, 910, 948}},
    {"uplink", "qam64", true, true, {240, 314, 193, 251, 308, 379, 449, 526, 602, 679, 340, 378, 434, 490,
                                     553, 616, 658, 466, 517, 567, 616, 666, 719, 772, 822, 873, 910, 948}},
    {"uplink", "qam64LowSE", true, false, {30,  40,  50,  64,  78,  99,  120, 157, 193, 251,
                                           308, 379, 449, 526, 602, 679, 378, 434, 490, 553,
                                           616, 658, 699, 772, 567, 616, 666, 772}},
    {"uplink", "qam64LowSE", true, true, {60,  80,  100, 128, 156, 198, 120, 157, 193, 251,
                                          308, 379, 449, 526, 602, 679, 378, 434, 490, 553,
                                          616, 658, 699, 772, 567, 616, 666, 772}},
};

TEST(LinkCodingTest, CodeRateByMcs) {
    for (const McsRates& mcs : rates_of_sionna) {
        LinkJson json = without(full_link, "/allocation/modulation");
        json.erase("coding");
        json["direction"] = mcs.direction;
        json["allocation"].merge_patch({{"mcs_table", mcs.table},
                                        {"transform_precoding", mcs.transform_precoding},
                                        {"resource_blocks", {0, 270}},
                                        {"reserved", LinkJson::array()}});
        if (mcs.pi2_bpsk) json["allocation"]["tp_pi2bpsk"] = true;
        for (std::size_t index = 0; index < mcs.code_rates_x1024.size(); ++index) {
            json["allocation"]["mcs_index"] = index;
            EXPECT_EQ(coding_of(json), LinkCoding{.code_rate = mcs.code_rates_x1024[index] / 1024})
                << json.dump();
        }
    }
}

TEST(LinkCodingTest, McsIndexBesideCoding) {
    const LinkJson mcs = {{"mcs_table", "qam256"}, {"mcs_index", 20}};
    EXPECT_EQ(coding_of(with_mcs(mcs, {{"redundancy_version", 1}, {"transport_block_size", 3104}})),
              (LinkCoding{.code_rate = 682.5 / 1024, .transport_block_size = 3104, .redundancy_version = 1}));
    EXPECT_EQ(coding_of(with_mcs(mcs, LinkJson::object())), LinkCoding{.code_rate = 682.5 / 1024});
    for (const char* const key : {"code_rate", "code_rate_x1024"})
        expect_error(error_of(with_mcs(mcs, {{key, 0.75}})),
                     {"coding.", key, ": given beside allocation.mcs_index, whose table has the code rate"});
    expect_error(error_of(with_mcs({{"mcs_index", 31}}, {{"transport_block_size", 3104}})),
                 {"allocation.mcs_index is 31", "give modulation", "coding.transport_block_size"});
}

TEST(LinkCodingTest, WrongValues) {
    const auto expect_wrong = [](const LinkJson& coding, std::initializer_list<const char*> parts) {
        SCOPED_TRACE(coding.dump());
        expect_error(error_of(with_coding(coding)), parts);
    };
    expect_wrong(LinkJson::object(),
                 {"coding.code_rate: missing", "coding.transport_block_size", "allocation.mcs_index"});
    expect_wrong({{"code_rate", 0.5}, {"code_rate_x1024", 512}},
                 {"coding.code_rate_x1024: given beside coding.code_rate; expected one of them"});
    expect_wrong({{"code_rate", 0}}, {"coding.code_rate is 0: expected above 0, at most 1"});
    expect_wrong({{"code_rate", 567}}, {"coding.code_rate is 567", "code_rate_x1024"});
    expect_wrong({{"code_rate", "0.5"}}, {"coding.code_rate is \"0.5\": expected a number"});
    expect_wrong({{"code_rate_x1024", 0}}, {"coding.code_rate_x1024 is 0: expected above 0, at most 1024"});
    expect_wrong({{"code_rate_x1024", 1024.5}}, {"coding.code_rate_x1024 is 1024.5"});
    expect_wrong({{"transport_block_size", 0}}, {"coding.transport_block_size is 0"});
    for (const int size : {4, 3756, 1 << 22})
        expect_wrong({{"transport_block_size", size}},
                     {"coding.transport_block_size is", "a multiple of 8 bits up to 2097152"});
    expect_wrong({{"code_rate", 0.5}, {"redundancy_version", 4}},
                 {"coding.redundancy_version is 4: expected a whole number from 0 to 3"});
    expect_wrong({{"code_rate", 0.5}, {"overhead", 4}}, {"coding.overhead is 4: expected 0, 6, 12 or 18"});
    expect_wrong({{"code_rate", 0.5}, {"limited_buffer", 0}}, {"coding.limited_buffer is 0"});
    expect_wrong({{"tbs", 3752}}, {"coding.tbs: unknown key; expected one of code_rate"});
    expect_wrong({{"transport_block", 3752}}, {"did you mean transport_block_size?"});
    expect_wrong({{"code_rat", 0.5}}, {"did you mean code_rate or code_rate_x1024?"});
    expect_wrong({{"redundancy", 1}}, {"did you mean redundancy_version?"});
    expect_wrong(LinkJson::array(), {"coding is []: expected an object"});
    expect_wrong(nullptr, {"coding is null: expected an object"});
}

/// Links that no text can say.
TEST(LinkCodingTest, StructsAreCheckedToo) {
    const Link link = parse_link(full_link);
    const auto expect_wrong = [&](const LinkCoding& coding) {
        Link wrong = link;
        wrong.coding = coding;
        EXPECT_THROW(check(wrong), phy::ArgumentError);
    };
    expect_wrong({});
    expect_wrong({.code_rate = std::numeric_limits<double>::quiet_NaN()});
    expect_wrong({.code_rate = 1.1});
    expect_wrong({.code_rate = 0.5, .transport_block_size = 0});
    expect_wrong({.code_rate = 0.5, .redundancy_version = -1});
    expect_wrong({.code_rate = 0.5, .overhead = -6});
    expect_wrong({.code_rate = 0.5, .limited_buffer = 0});
}

LinkJson with_uci(const LinkJson& uci) {
    return with_coding({{"transport_block_size", 3752}, {"uci", uci}});
}

TEST(LinkCodingTest, Uci) {
    EXPECT_EQ(coding_of(with_uci({{"ack_bits", 2}}))->uci, LinkUci{.ack_bits = 2});
    EXPECT_EQ(coding_of(with_uci({{"ack_bits", 3},
                                  {"csi1_bits", 4},
                                  {"csi2_bits", 50},
                                  {"ack_offset", 12.625},
                                  {"csi1_offset", 2},
                                  {"csi2_offset", 1.125},
                                  {"scaling", 0.65}}))
                  ->uci,
              (LinkUci{.ack_bits = 3,
                       .csi1_bits = 4,
                       .csi2_bits = 50,
                       .ack_offset = 12.625,
                       .csi1_offset = 2.0,
                       .csi2_offset = 1.125,
                       .scaling = 0.65}));
    EXPECT_EQ(coding_of(with_coding({{"code_rate", 0.5}}))->uci, std::nullopt);
}

TEST(LinkCodingTest, WrongUci) {
    const auto expect_wrong = [](const LinkJson& uci, std::initializer_list<const char*> parts) {
        SCOPED_TRACE(uci.dump());
        expect_error(error_of(with_uci(uci)), parts);
    };
    expect_wrong(LinkJson::object(), {"coding.uci has no bits: expected ack_bits or csi1_bits above 0"});
    expect_wrong({{"csi2_bits", 3}}, {"coding.uci: csi2_bits without csi1_bits"});
    expect_wrong({{"ack_bits", 1707}},
                 {"coding.uci.ack_bits is 1707: expected a whole number from 0 to 1706"});
    expect_wrong({{"ack_bits", 2}, {"ack_offset", 0}}, {"coding.uci: ack_offset 0: expected above 0"});
    expect_wrong({{"ack_bits", 2}, {"csi2_offset", 127}}, {"coding.uci: csi2_offset 127"});
    expect_wrong({{"ack_bits", 2}, {"scaling", 0.7}}, {"coding.uci: scaling 0.7: expected 0.5, 0.65"});
    expect_wrong({{"ack", 2}}, {"coding.uci.ack: unknown key; did you mean ack_bits or ack_offset?"});
    expect_wrong({{"csi1_bits", 2}, {"frequency_hopping", true}}, {"coding.uci.frequency_hopping: unknown"});
    expect_wrong(3, {"coding.uci is 3: expected an object"});
    // HARQ-ACK and CSI part 1 take all of symbols without DM-RS.
    expect_wrong({{"ack_bits", 1706}, {"ack_offset", 126}, {"csi1_bits", 1706}, {"csi1_offset", 126}},
                 {"coding.uci leaves no resource element to the transport block"});
    expect_wrong({{"ack_bits", 1706},
                  {"ack_offset", 126},
                  {"csi1_bits", 1706},
                  {"csi1_offset", 126},
                  {"csi2_bits", 1}},
                 {"coding.uci: csi2_bits 1: no resource element is left for them"});
    LinkJson downlink = with_uci({{"ack_bits", 2}});
    downlink["direction"] = "downlink";
    expect_error(error_of(downlink), {"coding.uci: given on the downlink"});
    LinkJson late = with_uci({{"ack_bits", 2}});
    late["allocation"]["symbols"] = {0, 12};
    late["allocation"]["dmrs"]["symbols"] = {11};
    expect_error(error_of(late), {"coding.uci: ack_bits 2: no resource element is left"});
    Link plain = parse_link(full_link);
    EXPECT_THROW((void)uci_config(plain), phy::ArgumentError);
}

/// 273 blocks; 60 of 3276 elements of symbols 0 and 1 are reserved.
TEST(LinkCodingTest, ConfigOfUci) {
    const Link link = parse_link(with_uci({{"ack_bits", 2}, {"csi1_bits", 7}}).dump());
    const phy::UciConfig config = uci_config(link);
    EXPECT_EQ(config.ack_bits, 2U);
    EXPECT_EQ(config.csi1_bits, 7U);
    const phy::CodeBlocks blocks = code_blocks(transport_block_config(link));
    EXPECT_EQ(config.code_block_bits, blocks.count * blocks.information_bits);
    EXPECT_EQ(config.layers, 1);
    EXPECT_EQ(config.modulation, phy::Modulation::qam256);
    ASSERT_EQ(config.symbols.size(), 14U);
    for (std::size_t symbol = 0; symbol < 14; ++symbol) {
        const bool has_dmrs = symbol == 2 || symbol == 11;
        EXPECT_EQ(config.symbols[symbol].has_dmrs, has_dmrs);
        EXPECT_EQ(config.symbols[symbol].elements, has_dmrs ? 0U : symbol < 2 ? 3276U - 60U : 3276U);
    }
    const phy::UciMap map(config);
    EXPECT_EQ(map.coded_bits(), (273 * 144 - 120) * 8U);
    EXPECT_EQ(transport_block_config(link).coded_bits, map.coded_bits(phy::UciPart::ul_sch));
    EXPECT_EQ(map.coded_bits() - map.coded_bits(phy::UciPart::csi1), map.coded_bits(phy::UciPart::ul_sch));
}

LinkCoding random_coding(std::mt19937& random) {
    const auto from = [&](int first, int last) {
        return std::uniform_int_distribution<>(first, last)(random);
    };
    LinkCoding coding;
    if (from(0, 1) == 0) coding.code_rate = std::uniform_real_distribution<>(0.01, 1.0)(random);
    // One code block, whatever the code rate.
    if (!coding.code_rate || from(0, 1) == 0) coding.transport_block_size = 8 * from(3, 478);
    coding.redundancy_version = from(0, 3);
    coding.overhead = 6 * from(0, 3);
    if (from(0, 1) == 0) coding.limited_buffer = from(1'500'000, 2'000'000);
    // Little enough for the shortest block.
    if (from(0, 1) == 0)
        coding.uci = LinkUci{.ack_bits = static_cast<std::size_t>(from(0, 2)),
                             .csi1_bits = static_cast<std::size_t>(from(1, 5)),
                             .csi2_bits = static_cast<std::size_t>(from(0, 5)),
                             .ack_offset = from(8, 16) / 8.0,
                             .csi1_offset = from(8, 16) / 8.0,
                             .csi2_offset = from(8, 16) / 8.0,
                             .scaling = 0.8};
    return coding;
}

TEST(LinkCodingTest, RandomCodingIsReadAsItIsWritten) {
    const unsigned seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Link link = parse_link(full_link);
    for (int i = 0; i < fewer_times(500); ++i) {
        link.coding = random_coding(random);
        ASSERT_EQ(parse_link(to_json(link)), link) << to_json(link);
    }
}

struct Grant {
    const char* changes;  ///< to the full link
    std::size_t size;     ///< calculate_tb_size() of Sionna 2.2
    std::size_t coded_bits;
};

/// The full link has 273 blocks and two DM-RS symbols without data. 120 of its elements are reserved.
const Grant grants[] = {
    {R"({"coding": {"code_rate_x1024": 682.5}})", 208'976, (273 * 144 - 120) * 8},
    {R"({"coding": {"code_rate_x1024": 682.5, "overhead": 18}})", 184'424, (273 * 144 - 120) * 8},
    {R"({"coding": {"code_rate_x1024": 948}, "allocation": {"erased_subcarriers": [5], "layers": 4,
         "dmrs": {"ports": [0, 1, 2, 3]}}})",
     1'179'864, 4 * (273 * 144 - 120) * 8},
    {R"({"coding": {"code_rate_x1024": 251}, "allocation": {"modulation": "qpsk", "layers": 2, "reserved": [],
         "resource_blocks": [[0, 3], [100, 50]], "symbols": [2, 10],
         "dmrs": {"type": 2, "length": 2, "ports": [0, 6], "symbols": [2, 3], "cdm_groups_without_data": 1}}})",
     5'768, 2 * 53 * 112 * 2},
};

TEST(LinkCodingTest, ConfigOfTheTransportBlock) {
    for (const Grant& grant : grants) {
        SCOPED_TRACE(grant.changes);
        LinkJson json = without(full_link, "/coding");
        json.merge_patch(LinkJson::parse(grant.changes));
        Link link = parse_link(json.dump());
        EXPECT_EQ(transport_block_config(link),
                  (phy::TransportBlockConfig{.size = grant.size,
                                             .code_rate = link.coding->code_rate.value(),
                                             .coded_bits = grant.coded_bits,
                                             .modulation = link.modulation,
                                             .layers = link.allocation.layers()}));
        link.coding = {.transport_block_size = 3752, .limited_buffer = 4000};
        EXPECT_EQ(transport_block_config(link),
                  (phy::TransportBlockConfig{.size = 3752,
                                             .code_rate = 3752.0 / static_cast<double>(grant.coded_bits),
                                             .coded_bits = grant.coded_bits,
                                             .modulation = link.modulation,
                                             .layers = link.allocation.layers(),
                                             .limited_buffer = 4000}));
        link.coding = {.transport_block_size = std::size_t{1} << 21U};
        EXPECT_EQ(transport_block_config(link).code_rate, 1.0);
    }
    Link link = parse_link(full_link);
    link.coding.reset();
    EXPECT_THROW(static_cast<void>(transport_block_config(link)), phy::ArgumentError);
}

TEST(LinkCodingTest, CodedBitsAreTheSoftBitsOfASlot) {
    for (const char* const text : {full_link, link_in_words}) {
        const Link link = parse_link(text);
        const phy::Receiver receiver(phy::Host(), {.link = link, .input = phy::ReceiverInput::grid});
        EXPECT_EQ(transport_block_config(link).coded_bits, receiver.soft_bits_per_slot());
    }
}

/// Allocations with any DM-RS: the elements that they leave in a resource block count.
TEST(LinkCodingTest, SizeOfRandomAllocations) {
    const unsigned seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto from = [&](int first, int last) {
        return std::uniform_int_distribution<>(first, last)(random);
    };
    Link link = parse_link(full_link);
    link.allocation.reserved = {};
    for (int i = 0; i < fewer_times(300); ++i) {
        phy::SlotAllocation& allocation = link.allocation;
        allocation.first_symbol = from(0, 2);
        allocation.symbols = from(8, 14 - allocation.first_symbol);
        allocation.resource_blocks = {{.first = 200, .count = from(1, 73)},
                                      {.first = 0, .count = from(1, 200)}};
        allocation.dmrs.type = from(1, 2);
        allocation.dmrs.symbols = from(0, 1) == 0 ? std::vector{2} : std::vector{2, 7};
        allocation.dmrs.cdm_groups_without_data = from(1, allocation.dmrs.type + 1);
        link.modulation = phy::all_modulations[static_cast<std::size_t>(from(0, 6))];
        link.coding = {.code_rate = from(30, 948) / 1024.0, .overhead = 6 * from(0, 3)};
        ASSERT_NO_THROW(check(link)) << to_json(link);
        const int blocks = allocation.resource_blocks[0].count + allocation.resource_blocks[1].count;
        const auto elements = static_cast<int>(phy::ResourceMap(allocation).elements());
        ASSERT_EQ(transport_block_config(link).size,
                  phy::transport_block_size({.resource_blocks = blocks,
                                             .symbols = allocation.symbols,
                                             .dmrs_elements = 12 * allocation.symbols - elements / blocks,
                                             .overhead = link.coding->overhead,
                                             .code_rate = *link.coding->code_rate,
                                             .modulation = link.modulation}))
            << to_json(link);
    }
}

TEST(LinkCodingTest, WhatDoesNotGoTogether) {
    expect_error(error_of(with_coding({{"code_rate", 0.5}, {"transport_block_size", 8448}})),
                 {"coding: size 8448: expected one of TS 38.214 clause 5.1.3.2"});
    expect_error(error_of(with_coding({{"transport_block_size", 3752}, {"limited_buffer", 1000}})),
                 {"coding: limited_buffer 1000: expected more than the bits of the transport block"});
    LinkJson json = with_coding({{"code_rate", 0.5}, {"overhead", 18}});
    json["allocation"]["symbols"] = {2, 1};
    json["allocation"]["dmrs"] = {
        {"type", 1}, {"ports", {0}}, {"cdm_groups_without_data", 1}, {"symbols", {2}}};
    expect_error(error_of(json), {"coding: overhead 18: DM-RS take 6 of the 12 elements"});
}

}  // namespace
