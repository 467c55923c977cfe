// Links that are not to be taken, and what is said about them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "receiver/link_texts.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

/// "/carrier/k0" as errors have it: "carrier.k0".
std::string name_of(const std::string& path) {
    std::string name = path.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    return name;
}

TEST(LinkErrorTest, KeysWithoutDefaultAreMissed) {
    for (const char* const path :
         {"/direction", "/carrier", "/carrier/subcarrier_spacing", "/carrier/resource_blocks", "/allocation",
          "/allocation/rnti", "/allocation/modulation", "/allocation/layers", "/allocation/resource_blocks",
          "/allocation/dmrs", "/allocation/dmrs/type", "/allocation/dmrs/ports",
          "/allocation/dmrs/cdm_groups_without_data", "/allocation/dmrs/symbols"})
        expect_error(error_of(without(full_link, path)), {(name_of(path) + ": missing").c_str()});
    for (const char* const key : {"symbols", "resource_blocks", "subcarriers"})
        expect_error(error_of(without(full_link, std::string("/allocation/reserved/0/") + key)),
                     {"allocation.reserved[0].", key, "missing"});
    expect_error(error_of(without(short_link, "/carrier/cell_id")),
                 {"allocation.scrambling_id: missing", "carrier.cell_id"});
}

TEST(LinkErrorTest, MissingKeysComeTogether) {
    LinkJson link = without(full_link, "/carrier/resource_blocks");
    link["allocation"].erase("rnti");
    link["allocation"]["dmrs"].erase("type");
    link["allocation"]["dmrs"].erase("symbols");
    expect_error(error_of(link), {"carrier.resource_blocks, allocation.rnti, allocation.dmrs.type, "
                                  "allocation.dmrs.symbols: missing; they have no defaults"});
    link["allocation"]["rnty"] = 1;
    expect_error(error_of(link), {"allocation.rnty: unknown key", "rnti"});
}

TEST(LinkErrorTest, WholeNumbersMayBeHexadecimal) {
    EXPECT_EQ(error_of(changed(full_link, "/allocation/rnti", "0xFFff")), "");
    for (const char* const wrong : {"0x10000", "0x", "0xG", "4601", "0x-1", "0x 1", "0x1234567890"})
        expect_error(error_of(changed(full_link, "/allocation/rnti", wrong)),
                     {"allocation.rnti is", "a whole number from 0 to 65535"});
}

TEST(LinkErrorTest, KeysWithDefaultAreNotMissed) {
    for (const char* const path : {"/carrier/first_crb",
                                   "/carrier/k0",
                                   "/carrier/cell_id",
                                   "/carrier/sample_rate",
                                   "/carrier/center_frequency",
                                   "/carrier/frequency_shift",
                                   "/carrier/cyclic_prefix",
                                   "/carrier/first_slot",
                                   "/carrier/first_sample",
                                   "/allocation/scrambling_id",
                                   "/allocation/codeword",
                                   "/allocation/symbols",
                                   "/allocation/slots",
                                   "/allocation/reserved",
                                   "/allocation/transform_precoding",
                                   "/allocation/dmrs/length",
                                   "/allocation/dmrs/scrambling_id",
                                   "/allocation/dmrs/n_scid",
                                   "/allocation/dmrs/reference_crb",
                                   "/allocation/dmrs/power_db",
                                   "/coding",
                                   "/coding/redundancy_version",
                                   "/coding/overhead",
                                   "/coding/limited_buffer"})
        EXPECT_EQ(error_of(without(full_link, path)), "") << path;
}

TEST(LinkErrorTest, UnknownKeysAreNamed) {
    expect_error(error_of(changed(full_link, "/carrier/cell_idd", 1)),
                 {"carrier.cell_idd: unknown key", "did you mean cell_id?"});
    expect_error(error_of(changed(full_link, "/allocation/dmrs/typea_position", 2)),
                 {"allocation.dmrs.typea_position: unknown key", "did you mean typeA_position?"});
    expect_error(error_of(changed(full_link, "/allocation/reserved/0/symbol", 2)),
                 {"allocation.reserved[0].symbol: unknown key", "did you mean symbols?"});
    expect_error(error_of(changed(full_link, "/allocation/mcs", 2)),
                 {"allocation.mcs: unknown key", "did you mean mcs_table or mcs_index?"});
    expect_error(error_of(changed(full_link, "/zzzzzzzz", 2)),
                 {"zzzzzzzz: unknown key", "direction, carrier, allocation, coding"});
    expect_error(error_of(changed(full_link, "/allocation/dmrs/\n\x01\xC3\xA4", 2)),
                 {"allocation.dmrs.????: unknown key"});
    expect_error(error_of(changed(full_link, "/carrier/" + std::string(100'000, 'x'), 2)),
                 {"carrier.xxx", "...: unknown key"});
    // A typing error is told as such, and not as a key that is missing.
    LinkJson json = without(full_link, "/allocation/modulation");
    json["allocation"]["modulaton"] = "qpsk";
    expect_error(error_of(json), {"allocation.modulaton: unknown key", "did you mean modulation?"});
}

struct Case {
    const char* path;
    const char* value;
    std::vector<const char*> parts;
};

void expect_errors(const std::vector<Case>& cases) {
    for (const Case& wrong : cases) {
        SCOPED_TRACE(std::string(wrong.path) + " = " + wrong.value);
        const std::string error = error_of(changed(full_link, wrong.path, LinkJson::parse(wrong.value)));
        EXPECT_NE(error, "");
        for (const char* const part : wrong.parts)
            EXPECT_NE(error.find(part), std::string::npos) << "'" << part << "' in: " << error;
    }
}

/// Such a text may be hexadecimal without 0x.
TEST(LinkErrorTest, TextsOfDigitsAreNoNumbers) {
    expect_error(error_of(changed(full_link, "/allocation/rnti", "17")),
                 {"allocation.rnti is \"17\": expected a whole number from",
                  "without quotes unless it is hexadecimal"});
}

TEST(LinkErrorTest, TypesAreChecked) {
    // What each key has in the full link tells what it takes.
    const LinkJson full = LinkJson::parse(full_link, nullptr, true, true).flatten();
    for (const auto& item : full.items()) {
        const LinkJson& good = item.value();
        for (const char* const text : {"null", "true", "\"two\"", "1.5", "{}", "[[]]", "{\"a\": [1]}"}) {
            const LinkJson value = LinkJson::parse(text);
            if (good.is_boolean() && value.is_boolean()) continue;
            const bool goes = (item.key().ends_with("frequency_shift") && value.is_number()) ||
                              (item.key().ends_with("center_frequency") && value.is_number()) ||
                              (item.key().ends_with("power_db") && value.is_number());
            const std::string error = error_of(changed(full_link, item.key(), value));
            EXPECT_EQ(error.empty(), goes) << item.key() << " = " << text << ": " << error;
            const std::string last = item.key().substr(item.key().find_last_of('/') + 1);
            const bool is_index = last.find_first_not_of("0123456789") == std::string::npos;
            if (!goes) {
                EXPECT_NE(error.find(is_index ? "[" + last + "]" : last), std::string::npos) << error;
            }
        }
    }
    expect_errors({{"/carrier", "[]", {"carrier is []", "an object"}},
                   {"/allocation/dmrs", "2", {"allocation.dmrs is 2", "an object"}},
                   {"/allocation/reserved", "{}", {"allocation.reserved is {}", "list"}},
                   {"/allocation/reserved", "[3]", {"allocation.reserved[0] is 3", "an object"}},
                   {"/allocation/slots", "3", {"allocation.slots is 3", "list"}},
                   {"/allocation/dmrs/ports", "0", {"allocation.dmrs.ports is 0", "list"}},
                   {"/allocation/symbols", "[0]", {"allocation.symbols is [0]", "pair"}},
                   {"/allocation/symbols", "[0, 14, 1]", {"allocation.symbols is", "pair"}},
                   {"/allocation/resource_blocks", "[]", {"allocation.resource_blocks is []", "pair"}},
                   {"/allocation/resource_blocks", "[0]", {"allocation.resource_blocks is [0]", "pair"}},
                   {"/allocation/resource_blocks", "[[0, 1], 2]", {"allocation.resource_blocks[1] is 2"}}});
    EXPECT_EQ(error_of(changed(full_link, "/carrier/first_sample", 1e6)), "") << "a whole number";
}

TEST(LinkErrorTest, RangesAreChecked) {
    expect_errors(
        {{"/direction", "\"sidelink\"", {"direction is \"sidelink\"", "\"uplink\" or \"downlink\""}},
         {"/carrier/subcarrier_spacing", "240000", {"carrier.subcarrier_spacing", "120000"}},
         {"/carrier/subcarrier_spacing", "0", {"carrier.subcarrier_spacing is 0"}},
         {"/carrier/resource_blocks", "0", {"carrier.resource_blocks is 0", "1 to 275"}},
         {"/carrier/resource_blocks", "276", {"carrier.resource_blocks is 276"}},
         {"/carrier/first_crb", "-1", {"carrier.first_crb is -1"}},
         {"/carrier/first_crb", "4000", {"first_crb 4000"}},
         {"/carrier/k0", "7", {"carrier.k0 is 7"}},
         {"/carrier/k0", "3", {"carrier.k0 is 3", "-6, 0 or 6"}},
         {"/carrier/cell_id", "1008", {"carrier.cell_id is 1008"}},
         {"/carrier/sample_rate", "-1", {"carrier.sample_rate is -1"}},
         {"/carrier/sample_rate", "61440000", {"carrier.sample_rate is", "3276 subcarriers"}},
         {"/carrier/center_frequency", "-1", {"carrier.center_frequency is -1"}},
         {"/carrier/cyclic_prefix", "\"extended\"", {"carrier.cyclic_prefix", "\"normal\""}},
         {"/carrier/first_slot", "20", {"carrier.first_slot is 20", "0 to 19"}},
         {"/carrier/first_slot", "-1", {"carrier.first_slot is -1"}},
         {"/carrier/first_sample", "-1", {"carrier.first_sample is -1"}},
         {"/carrier/first_sample", "18446744073709551615", {"carrier.first_sample"}},
         {"/carrier/first_sample", "\"search\"", {"carrier.first_sample", "\"auto\""}},
         {"/allocation/rnti", "65536", {"allocation.rnti is 65536", "0 to 65535"}},
         {"/allocation/scrambling_id", "1024", {"allocation.scrambling_id is 1024"}},
         {"/allocation/codeword", "1", {"allocation.codeword is 1", "uplink"}},
         {"/allocation/codeword", "2", {"allocation.codeword is 2"}},
         {"/allocation/modulation", "\"512qam\"", {"allocation.modulation", "512qam", "256qam"}},
         {"/allocation/layers", "0", {"allocation.layers is 0"}},
         {"/allocation/layers", "5", {"allocation.layers is 5", "1 to 4"}},
         {"/allocation/layers", "2", {"allocation.layers is 2", "expected 1"}},
         {"/allocation/slots", "[0, 20]", {"allocation.slots[1] is 20", "0 to 19"}},
         {"/allocation/slots", "[3, 4, 3]", {"allocation.slots[2] is 3", "once"}},
         {"/allocation/slots", "[]", {"allocation.slots", "at least one"}}});
}

TEST(LinkErrorTest, WhatDoesNotGoTogether) {
    expect_errors({{"/allocation/resource_blocks", "[0, 274]", {"allocation", "274", "carrier"}},
                   {"/allocation/resource_blocks", "[273, 1]", {"allocation", "273", "carrier"}},
                   {"/allocation/resource_blocks", "[[0, 9], [8, 2]]", {"allocation", "overlap"}},
                   {"/allocation/symbols", "[3, 12]", {"allocation", "symbols 12"}},
                   {"/allocation/symbols", "[0, 11]", {"allocation", "DM-RS symbol 11"}},
                   {"/allocation/symbols", "[3, 11]", {"allocation", "DM-RS symbol 2"}},
                   {"/allocation/dmrs/symbols", "[]", {"allocation", "DM-RS symbols"}},
                   {"/allocation/dmrs/symbols", "[11, 2]", {"allocation", "DM-RS symbol 2"}},
                   {"/allocation/dmrs/symbols", "[14]", {"allocation.dmrs.symbols[0] is 14"}},
                   {"/allocation/dmrs/length", "2", {"allocation", "DM-RS symbol 11"}},
                   {"/allocation/dmrs/type", "3", {"allocation.dmrs.type is 3"}},
                   {"/allocation/dmrs/ports", "[4]", {"allocation", "DM-RS port 4"}},
                   {"/allocation/dmrs/ports", "[12]", {"allocation.dmrs.ports[0] is 12"}},
                   {"/allocation/dmrs/cdm_groups_without_data", "3", {"cdm_groups_without_data 3"}},
                   {"/allocation/dmrs/scrambling_id", "65536", {"allocation.dmrs.scrambling_id is 65536"}},
                   {"/allocation/dmrs/n_scid", "2", {"allocation.dmrs.n_scid is 2"}},
                   {"/allocation/dmrs/hopping", "\"group\"", {"hopping", "transform_precoding"}},
                   {"/allocation/dmrs/hopping", "\"yes\"", {"allocation.dmrs.hopping", "\"sequence\""}},
                   {"/allocation/dmrs/reference_crb", "1", {"reference_crb 1"}},
                   {"/allocation/dmrs/power_db", "100", {"power_db 100"}},
                   {"/allocation/dmrs/power_db", "1e300", {"power_db"}},
                   {"/allocation/reserved/0/symbols", "[14]", {"allocation.reserved[0].symbols[0] is 14"}},
                   {"/allocation/reserved/0/subcarriers", "[12]", {"reserved[0].subcarriers[0] is 12"}},
                   {"/allocation/reserved/0/resource_blocks", "[270, 20]", {"allocation: reserved", "20"}}});
    LinkJson json = changed(full_link, "/allocation/dmrs/ports", LinkJson::parse("[0, 0]"));
    json["allocation"]["layers"] = 2;
    expect_error(error_of(json), {"allocation", "twice"});
}

TEST(LinkErrorTest, OnlyJson) {
    for (const char* const text :
         {"", " ", "{", "}", "null,", "{\"a\"}", "{\"direction\": NaN}", "{\"direction\": Infinity}",
          "{\"direction\": 1e999}", "{'direction': 1}", "{\"direction\": \"up\nlink\"}", "// only a comment",
          "{} {}", "\xFF\xFE", "{\"direction\": \"\xFF\"}", "{\"direction\": 1,}", "/* {}"})
        expect_error(error_of(std::string(text)), {"not JSON: "});
    for (const char* const text : {"null", "3", "\"uplink\"", "[]", "true"})
        expect_error(error_of(std::string(text)), {"expected an object"});
    expect_error(error_of(std::string("{\"direction\": 1}\0", 17)), {"not JSON"});
}

TEST(LinkErrorTest, KeysAreThereOnce) {
    const std::string twice = "\"k0\": 0, \"k0\": 0,";
    std::string text = full_link;
    text.replace(text.find("\"k0\": 0,"), 8, twice);
    expect_error(error_of(text), {"carrier.k0: exists twice"});
}

TEST(LinkErrorTest, DepthAndSizeAreLimited) {
    for (const char bracket : {'[', '{'}) {
        std::string text;
        for (int i = 0; i < 100'000; ++i)
            text += bracket == '[' ? "[" : "{\"a\":";
        expect_error(error_of(text), {"nested too deep"});
    }
    expect_error(error_of(std::string((1U << 20) + 1, ' ')), {"1048577 bytes", "at most 1048576"});
}

/// Bytes of a link changed, removed and doubled, at random: what comes is a link or an ArgumentError.
TEST(LinkErrorTest, AnyBytesAreALinkOrAnError) {
    constexpr unsigned seed = 4711;
    std::mt19937 random(seed);
    constexpr char interesting[] = "{}[]\",:/*-+.eE0123456789\\unflstra \n\xFF\x80";
    int links = 0;
    for (int round = 0; round < fewer_times(20'000); ++round) {
        std::string text = std::array{full_link, short_link, link_in_words}.at(round % 3);
        const unsigned changes = 1 + random() % 4;
        for (unsigned i = 0; i < changes; ++i) {
            const std::size_t at = random() % text.size();
            const std::size_t count = std::min<std::size_t>(random() % 12, text.size() - at);
            switch (random() % 4) {
                case 0:
                    text[at] = interesting[random() % (sizeof interesting - 1)];
                    break;
                case 1:
                    text[at] = static_cast<char>(random());
                    break;
                case 2:
                    text.erase(at, count);
                    break;
                default:
                    text.insert(random() % text.size(), text.substr(at, count));
                    break;
            }
            if (text.empty()) text = " ";
        }
        try {
            const phy::Link link = phy::parse_link(text);
            ++links;
            ASSERT_EQ(phy::parse_link(to_json(link)), link) << text << ", seed " << seed;
        } catch (const phy::ArgumentError& error) {
            const std::string_view line = error.what();
            ASSERT_FALSE(line.empty());
            for (const char character : line)
                ASSERT_TRUE(character >= ' ' && character <= '~') << line << ", seed " << seed;
        }
    }
    EXPECT_GT(links, 0);
}

}  // namespace
