// Links in the words of RRC, DCI and FAPI.

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "receiver/link_texts.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Modulation;

/// The full link without these keys, and with others.
LinkJson replaced(const std::vector<std::string>& removed, const LinkJson& added) {
    LinkJson json = LinkJson::parse(full_link, nullptr, true, true);
    for (const std::string& path : removed) {
        const LinkJson::json_pointer pointer(path);
        json[pointer.parent_pointer()].erase(pointer.back());
    }
    json.merge_patch(added);
    return json;
}

LinkJson with_carrier(const LinkJson& added) {
    return replaced({"/carrier/center_frequency"}, {{"carrier", added}});
}

/// Without reserved elements, which have resource blocks too.
LinkJson with_blocks(const LinkJson& added) {
    return replaced({"/allocation/resource_blocks", "/allocation/reserved"}, {{"allocation", added}});
}

LinkJson with_symbols(const LinkJson& added) {
    return replaced({"/allocation/symbols", "/allocation/dmrs/symbols"}, {{"allocation", added}});
}

LinkJson with_mcs(const LinkJson& added) {
    return replaced({"/allocation/modulation"}, {{"allocation", added}});
}

std::optional<double> center_of(const LinkJson& carrier) {
    return phy::parse_link(with_carrier(carrier).dump()).carrier.center_frequency;
}

std::vector<phy::ResourceBlocks> blocks_of(const LinkJson& allocation) {
    return phy::parse_link(with_blocks(allocation).dump()).allocation.resource_blocks;
}

/// TS 38.104 table 5.4.2.1-1: both ends of each range.
TEST(LinkWordsTest, FrequencyByArfcn) {
    const std::pair<int, double> ends[] = {{0, 0.0},
                                           {1, 5e3},
                                           {599'999, 2'999'995'000.0},
                                           {600'000, 3e9},
                                           {2'016'666, 24'249'990'000.0},
                                           {2'016'667, 24'250'080'000.0},
                                           {3'279'165, 99'999'960'000.0}};
    for (const auto& [arfcn, frequency] : ends)
        EXPECT_EQ(center_of({{"arfcn", arfcn}}), frequency) << arfcn;
    EXPECT_EQ(center_of({{"arfcn", "0x9EB10"}}), 3.75e9);
    expect_error(error_of(with_carrier({{"arfcn", 3'279'166}})),
                 {"carrier.arfcn is 3279166: expected a whole number from 0 to 3279165"});
    expect_error(error_of(with_carrier({{"arfcn", 640000.5}})), {"carrier.arfcn is 640000.5"});
}

TEST(LinkWordsTest, CentreByPointA) {
    EXPECT_EQ(center_of({{"point_a_arfcn", 646'724}}), 3.75e9);
    const unsigned seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int i = 0; i < 200; ++i) {
        const int k0 = static_cast<int>(random() % 3) * 6 - 6;
        const int first_crb = static_cast<int>(random() % 200);
        const int arfcn = 600'000 + static_cast<int>(random() % 100'000);
        SCOPED_TRACE("k0 " + std::to_string(k0) + ", first_crb " + std::to_string(first_crb) + ", ARFCN " +
                     std::to_string(arfcn));
        const auto center = center_of({{"point_a_arfcn", arfcn}, {"first_crb", first_crb}, {"k0", k0}});
        // TS 38.211 clause 5.3.1: subcarrier k of the grid is at f0 + (k + k0 - 6 * 273) * spacing.
        const double lowest = center.value() + (k0 - 6.0 * 273) * 30e3;
        EXPECT_EQ(lowest, 3e9 + 15e3 * (arfcn - 600'000) + 12.0 * first_crb * 30e3);
    }
    expect_error(error_of(with_carrier({{"point_a_arfcn", -1}})), {"carrier.point_a_arfcn is -1"});
}

/// TS 38.214 clause 5.1.2.2.2, and with 14 symbols clause 5.1.2.1.
int indicator_of(int first, int count, int size) {
    if (count - 1 <= size / 2) return size * (count - 1) + first;
    return size * (size - count + 1) + (size - 1 - first);
}

TEST(LinkWordsTest, EveryRivOfRandomBandwidthParts) {
    const unsigned seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (const int size : {1, 2, 3, 4, static_cast<int>(5 + random() % 20)}) {
        const int start = static_cast<int>(random() % static_cast<unsigned>(274 - size));
        const LinkJson bwp = {{"start", start}, {"size", size}};
        SCOPED_TRACE(bwp.dump());
        std::vector<bool> seen(static_cast<std::size_t>(size * (size + 1) / 2));
        for (int first = 0; first < size; ++first) {
            for (int count = 1; first + count <= size; ++count) {
                const int riv = indicator_of(first, count, size);
                EXPECT_EQ(blocks_of({{"bwp", bwp}, {"riv", riv}}),
                          (std::vector<phy::ResourceBlocks>{{.first = start + first, .count = count}}))
                    << riv;
                seen.at(static_cast<std::size_t>(riv)) = true;
            }
        }
        EXPECT_EQ(seen, std::vector<bool>(seen.size(), true)) << "every value in the range has a meaning";
        const std::string last = std::to_string(seen.size() - 1);
        expect_error(error_of(with_blocks({{"bwp", bwp}, {"riv", seen.size()}})),
                     {"allocation.riv is", ("a whole number from 0 to " + last).c_str()});
    }
}

TEST(LinkWordsTest, RivsOfWideCarriers) {
    const unsigned seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int i = 0; i < 300; ++i) {
        const int first = static_cast<int>(random() % 273);
        const int count = 1 + static_cast<int>(random() % static_cast<unsigned>(273 - first));
        const int riv = indicator_of(first, count, 273);
        EXPECT_EQ(blocks_of({{"riv", riv}}),
                  (std::vector<phy::ResourceBlocks>{{.first = first, .count = count}}))
            << riv;
        const int location = indicator_of(first, count, 275);
        const LinkJson bwp = {{"location_and_bandwidth", location}};
        EXPECT_EQ(blocks_of({{"bwp", bwp}, {"resource_blocks", {0, count}}}),
                  (std::vector<phy::ResourceBlocks>{{.first = first, .count = count}}))
            << location;
    }
    // As logs of carriers of 100 and 20 MHz have it.
    EXPECT_EQ(blocks_of({{"bwp", {{"location_and_bandwidth", 1099}}}, {"resource_blocks", {0, 273}}}),
              (std::vector<phy::ResourceBlocks>{{.first = 0, .count = 273}}));
    EXPECT_EQ(blocks_of({{"bwp", {{"location_and_bandwidth", 13750}}}, {"resource_blocks", {0, 51}}}),
              (std::vector<phy::ResourceBlocks>{{.first = 0, .count = 51}}));
}

TEST(LinkWordsTest, ResourceBlocksCountFromTheBandwidthPart) {
    const LinkJson bwp = {{"start", 100}, {"size", 48}};
    EXPECT_EQ(blocks_of({{"bwp", bwp}, {"resource_blocks", LinkJson::parse("[[40, 8], [0, 2]]")}}),
              (std::vector<phy::ResourceBlocks>{{.first = 140, .count = 8}, {.first = 100, .count = 2}}));
    expect_error(error_of(with_blocks({{"bwp", bwp}, {"resource_blocks", {40, 9}}})),
                 {"allocation.resource_blocks ends with resource block 48 of allocation.bwp", "at most 47"});
    const LinkJson link = replaced({"/allocation/resource_blocks"},
                                   {{"allocation", {{"bwp", bwp}, {"resource_blocks", {0, 9}}}}});
    EXPECT_EQ(phy::parse_link(link.dump()).allocation.reserved[0].resource_blocks.first, 0)
        << "reserved elements count from the carrier";
}

TEST(LinkWordsTest, WrongBandwidthParts) {
    const auto error = [](const LinkJson& bwp) { return error_of(with_blocks({{"bwp", bwp}, {"riv", 0}})); };
    expect_error(error({{"start", 200}, {"size", 74}}),
                 {"allocation.bwp ends with resource block 273 of the carrier: expected at most 272"});
    expect_error(error({{"start", 0}, {"size", 0}}), {"allocation.bwp.size is 0", "1 to 275"});
    expect_error(error({{"start", -1}, {"size", 5}}), {"allocation.bwp.start is -1"});
    expect_error(error({{"start", 1}}), {"allocation.bwp.size: missing"});
    expect_error(error({{"size", 1}}), {"allocation.bwp.start: missing"});
    expect_error(error({{"sizes", 1}}), {"allocation.bwp.sizes: unknown key; did you mean size?"});
    expect_error(error({{"location_and_bandwidth", 37'950}}),
                 {"allocation.bwp.location_and_bandwidth is 37950", "0 to 37949"});
    for (const char* const key : {"start", "size"})
        expect_error(error({{"location_and_bandwidth", 1099}, {key, 1}}),
                     {"allocation.bwp.location_and_bandwidth: given beside allocation.bwp.", key});
    expect_error(error(LinkJson::array({0, 273})), {"allocation.bwp is [0,273]", "an object"});
}

TEST(LinkWordsTest, EverySliv) {
    for (int first = 0; first < 14; ++first) {
        for (int count = 1; first + count <= 14; ++count) {
            const int sliv = indicator_of(first, count, 14);
            // With one CDM group without data a DM-RS symbol alone has data.
            LinkJson dmrs = {{"symbols", {first}}, {"cdm_groups_without_data", 1}};
            dmrs["power_db"] = 0;
            const phy::Link link = phy::parse_link(with_symbols({{"sliv", sliv}, {"dmrs", dmrs}}).dump());
            EXPECT_EQ(link.allocation.first_symbol, first) << sliv;
            EXPECT_EQ(link.allocation.symbols, count) << sliv;
        }
    }
    expect_error(error_of(with_symbols({{"sliv", 105}, {"dmrs", {{"symbols", {2}}}}})),
                 {"allocation.sliv is 105: expected a whole number from 0 to 104"});
}

TEST(LinkWordsTest, DmrsSymbolsByMask) {
    const auto symbols_of = [](const LinkJson& mask) {
        return phy::parse_link(with_symbols({{"dmrs", {{"symbol_mask", mask}}}}).dump())
            .allocation.dmrs.symbols;
    };
    EXPECT_EQ(symbols_of(0x804), (std::vector<int>{2, 11}));
    EXPECT_EQ(symbols_of("0x884"), (std::vector<int>{2, 7, 11}));
    EXPECT_EQ(symbols_of(1), std::vector<int>{0});
    for (const int mask : {0, 16384})
        expect_error(error_of(with_symbols({{"dmrs", {{"symbol_mask", mask}}}})),
                     {"allocation.dmrs.symbol_mask is", "1 to 16383"});
    const LinkJson placed = {
        {"symbol_mask", 0x404}, {"mapping_type", "A"}, {"typeA_position", 2}, {"additional_positions", 1}};
    expect_error(error_of(with_symbols({{"dmrs", placed}})),
                 {"allocation.dmrs.symbol_mask is [2,10]: expected [2,11]", "mapping_type"});
}

TEST(LinkWordsTest, PortsOfPdsch) {
    const auto link = [](const char* direction, const LinkJson& ports) {
        return replaced({}, {{"direction", direction},
                             {"allocation", {{"layers", ports.size()}, {"dmrs", {{"ports", ports}}}}}});
    };
    const auto ports_of = [&](const LinkJson& ports) {
        return phy::parse_link(link("downlink", ports).dump()).allocation.dmrs.ports;
    };
    EXPECT_EQ(ports_of({1000, 1003}), (std::vector<int>{0, 3}));
    EXPECT_EQ(ports_of({0, 3}), (std::vector<int>{0, 3}));
    expect_error(error_of(link("uplink", {1000})),
                 {"allocation.dmrs.ports[0] is 1000: expected 0 to 11 on the uplink", "PDSCH"});
    expect_error(error_of(link("downlink", {1000, 1012})),
                 {"allocation.dmrs.ports[1] is 1012", "1000 to 1011"});
    expect_error(error_of(link("downlink", {12})), {"allocation.dmrs.ports[0] is 12", "0 to 11"});
    EXPECT_EQ(ports_of({"1000", 1003}), (std::vector<int>{0, 3}));
    EXPECT_EQ(ports_of({"0", "3"}), (std::vector<int>{0, 3}));
    EXPECT_EQ(ports_of({"0x3e8", "0x3E9"}), (std::vector<int>{0, 1}));
    expect_error(error_of(link("uplink", {"1000"})), {"allocation.dmrs.ports[0] is 1000", "PDSCH"});
    for (const char* const wrong : {"", "port", "1000 ", "1e3", "-1", "12", "1012"})
        expect_error(error_of(link("downlink", {wrong})), {"allocation.dmrs.ports[0] is", "expected"});
    expect_error(error_of(link("downlink", {1001, 0})),
                 {"allocation.dmrs.ports[1] is 0", "all ports from 0 on, or all from 1000 on"});
    expect_error(error_of(link("downlink", {0, "1001"})), {"allocation.dmrs.ports[1] is 1001", "all ports"});
}

struct McsCase {
    const char* direction;
    const char* table;  ///< "": none
    bool transform_precoding;
    bool pi2_bpsk;
    const char* orders;  ///< Qm of each index, TS 38.214; a: 10
};

/// TS 38.214 tables 5.1.3.1-1 to 5.1.3.1-4, 6.1.4.1-1, 6.1.4.1-2.
const McsCase mcs_cases[] = {{"downlink", "", false, false, "22222222224444444666666666666"},
                             {"uplink", "qam64", false, false, "22222222224444444666666666666"},
                             {"downlink", "qam256", false, false, "2222244444466666666688888888"},
                             {"uplink", "qam256", false, false, "2222244444466666666688888888"},
                             {"uplink", "qam256", true, false, "2222244444466666666688888888"},
                             {"uplink", "qam64LowSE", false, false, "22222222222222244444466666666"},
                             {"downlink", "qam1024", false, false, "22244466666666688888888aaaa"},
                             {"uplink", "qam64", true, false, "2222222222444444466666666666"},
                             {"uplink", "", true, true, "1122222222444444466666666666"},
                             {"uplink", "qam64LowSE", true, false, "2222222222222222444444446666"},
                             {"uplink", "qam64LowSE", true, true, "1111112222222222444444446666"}};

LinkJson mcs_link(const McsCase& mcs, int index) {
    LinkJson allocation = {{"mcs_index", index}, {"transform_precoding", mcs.transform_precoding}};
    if (*mcs.table != '\0') allocation["mcs_table"] = mcs.table;
    if (mcs.pi2_bpsk) allocation["tp_pi2bpsk"] = true;
    allocation["resource_blocks"] = {0, 270};
    allocation["reserved"] = LinkJson::array();
    LinkJson json = with_mcs(allocation);
    json["direction"] = mcs.direction;
    return json;
}

TEST(LinkWordsTest, ModulationByMcs) {
    for (const McsCase& mcs : mcs_cases) {
        const std::string orders = mcs.orders;
        const int size = static_cast<int>(orders.size());
        for (int index = 0; index < size; ++index) {
            SCOPED_TRACE(mcs_link(mcs, index).dump());
            const Modulation modulation = phy::parse_link(mcs_link(mcs, index).dump()).modulation;
            const char order = orders[static_cast<std::size_t>(index)];
            EXPECT_EQ(static_cast<int>(bits_per_symbol(modulation)), order == 'a' ? 10 : order - '0');
            EXPECT_EQ(modulation == Modulation::pi2_bpsk, order == '1');
        }
        const std::string last = "expected 0 to " + std::to_string(size - 1);
        for (int index = size; index < 32; ++index)
            expect_error(error_of(mcs_link(mcs, index)), {"allocation.mcs_index is", last.c_str(),
                                                          "reserved for retransmissions", "give modulation"});
        expect_error(error_of(mcs_link(mcs, 32)), {"allocation.mcs_index is 32", "0 to 31"});
    }
}

TEST(LinkWordsTest, WrongMcsTables) {
    expect_error(error_of(with_mcs({{"mcs_index", 3}, {"mcs_table", "qam1024"}})),
                 {"allocation.mcs_table is \"qam1024\"", "\"qam64\", \"qam256\", \"qam64LowSE\"", "PUSCH"});
    expect_error(error_of(with_mcs({{"mcs_index", 3}, {"mcs_table", 2}})), {"allocation.mcs_table is 2"});
    expect_error(error_of(with_mcs({{"mcs_index", 3}, {"tp_pi2bpsk", true}})),
                 {"allocation.tp_pi2bpsk is true", "transform_precoding"});
    expect_error(error_of(with_mcs({{"mcs_index", 3}, {"tp_pi2bpsk", 1}})), {"allocation.tp_pi2bpsk is 1"});
    expect_error(error_of(with_mcs({{"mcs_table", "qam64"}})), {"allocation.mcs_table", "without mcs_index"});
    expect_error(error_of(replaced({}, {{"allocation", {{"mcs_table", "qam64"}}}})),
                 {"allocation.mcs_table", "without mcs_index"});
    expect_error(error_of(replaced({}, {{"allocation", {{"tp_pi2bpsk", false}}}})),
                 {"allocation.tp_pi2bpsk", "without mcs_index"});
}

TEST(LinkWordsTest, OneOfTwoKeys) {
    struct Pair {
        const char* path;
        const char* other;
        int value;
    };
    for (const auto& [path, other, value] :
         {Pair{"/carrier/arfcn", "carrier.center_frequency", 650'000},
          {"/carrier/point_a_arfcn", "carrier.center_frequency", 650'000},
          {"/allocation/riv", "allocation.resource_blocks", 0},
          {"/allocation/sliv", "allocation.symbols", 0},
          {"/allocation/mcs_index", "allocation.modulation", 0},
          {"/allocation/dmrs/symbol_mask", "allocation.dmrs.symbols", 4}}) {
        std::string name(path + 1);
        for (char& letter : name)
            if (letter == '/') letter = '.';
        expect_error(error_of(changed(full_link, path, value)),
                     {(name + ": given beside " + other + "; expected one of them").c_str()});
    }
    expect_error(error_of(with_carrier({{"arfcn", 1}, {"point_a_arfcn", 1}})),
                 {"carrier.point_a_arfcn: given beside carrier.arfcn"});
}

TEST(LinkWordsTest, ReplacedKeysAreNotMissing) {
    LinkJson json = with_mcs({{"mcs_index", 3}});
    json["allocation"].erase("resource_blocks");
    json["allocation"]["riv"] = 5;
    json["allocation"].erase("rnti");
    json["allocation"].erase("layers");
    expect_error(error_of(json), {"allocation.rnti, allocation.layers: missing"});
    EXPECT_EQ(error_of(json).find("modulation"), std::string::npos);
}

TEST(LinkWordsTest, TheTextHasPhysOwnKeys) {
    const phy::Link link = phy::parse_link(link_in_words);
    const LinkJson coding = {{"coding", {{"code_rate", 682.5 / 1024}}}};
    const phy::Link expected =
        phy::parse_link(replaced({"/allocation/reserved", "/allocation/slots", "/coding"}, coding).dump());
    EXPECT_EQ(link, expected);
    EXPECT_EQ(to_json(link), to_json(expected));
}

/// What docs/rrc.md shows.
TEST(LinkWordsTest, ThePageIsRight) {
    const phy::Link link = phy::parse_link(link_of_page("rrc.md"));
    EXPECT_EQ(link.carrier.center_frequency, 3.75e9);
    EXPECT_EQ(link.modulation, Modulation::qam256);
    EXPECT_EQ(link.allocation.resource_blocks,
              (std::vector<phy::ResourceBlocks>{{.first = 0, .count = 273}}));
    EXPECT_EQ(link.allocation.first_symbol, 1);
    EXPECT_EQ(link.allocation.dmrs.ports, (std::vector<int>{0, 1}));
    EXPECT_EQ(link.allocation.dmrs.symbols, (std::vector<int>{2, 11}));
}

}  // namespace
