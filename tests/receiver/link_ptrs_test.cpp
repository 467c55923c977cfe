#include <gtest/gtest.h>

#include <vector>

#include "phy/receiver/link.hpp"
#include "receiver/link_texts.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Link;
using phy::parse_link;

TEST(LinkTest, PtrsHaveDefaultsAndTheRntiOfTheAllocation) {
    LinkJson json = changed(short_link, "/allocation/ptrs", {{"time_density", 1}, {"frequency_density", 4}});
    const Link link = parse_link(json.dump());
    EXPECT_EQ(link.allocation.ptrs, (phy::PtrsConfig{.frequency_density = 4, .rnti = 4660}));
    EXPECT_EQ(parse_link(to_json(link)), link);
    json["allocation"]["ptrs"]["ports"] = {3, 0};
    EXPECT_EQ(parse_link(json.dump()).allocation.ptrs->ports, (std::vector<int>{3, 0}));
    json["direction"] = "downlink";
    expect_error(error_of(json), {"allocation.ptrs.ports has 2", "one on the downlink"});
    json["allocation"]["ptrs"] = {{"time_density", 1}};
    expect_error(error_of(json), {"allocation.ptrs.frequency_density", "missing"});
    json["allocation"]["ptrs"] = {{"time_density", 3}, {"frequency_density", 4}};
    expect_error(error_of(json), {"time_density 3", "1, 2 or 4"});
    json["allocation"]["ptrs"] = {{"time_density", 1}, {"frequency_density", 4}, {"rnti", 4660}};
    expect_error(error_of(json), {"allocation.ptrs", "rnti"});
}

TEST(LinkTest, PrecodedPtrsHaveKeysOfTheirOwn) {
    LinkJson json = changed(full_link, "/allocation/transform_precoding", true);
    LinkJson& allocation = json["allocation"];
    json["direction"] = "uplink";
    allocation["layers"] = 1;
    allocation["resource_blocks"] = {0, 9};
    allocation.erase("reserved");
    allocation["dmrs"] = {{"type", 1}, {"ports", {0}}, {"cdm_groups_without_data", 2}, {"symbols", {2}}};
    allocation["ptrs"] = {{"time_density", 2}, {"groups", 8}, {"samples_per_group", 4}, {"power_db", 1.5}};
    const Link link = parse_link(json.dump());
    EXPECT_EQ(link.allocation.ptrs, (phy::PtrsConfig{.time_density = 2,
                                                     .groups = 8,
                                                     .samples_per_group = 4,
                                                     .rnti = link.scrambling.rnti,
                                                     .power_db = 1.5F}));
    EXPECT_EQ(parse_link(to_json(link)), link);
    allocation["ptrs"]["frequency_density"] = 2;
    expect_error(error_of(json), {"allocation.ptrs.frequency_density", "transform_precoding false"});
    allocation["ptrs"] = {{"time_density", 1}, {"groups", 4}};
    expect_error(error_of(json), {"allocation.ptrs.samples_per_group", "missing"});
    allocation["ptrs"] = {{"time_density", 1}, {"groups", 8}, {"samples_per_group", 2}};
    expect_error(error_of(json), {"PT-RS in 8 groups of 2 samples", "2 x 2"});
    allocation["transform_precoding"] = false;
    expect_error(error_of(json), {"allocation.ptrs.groups", "transform_precoding true"});
}

}  // namespace
