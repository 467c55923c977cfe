#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "digests/lines.hpp"

/// What users get is the same, byte for byte, as when digests.txt was made, in every way to get it.
namespace {

using phy_test::HostOutputs;
using phy_test::Outputs;
using phy_test::Section;

void on_each(const std::function<void(HostOutputs&)>& add, const std::vector<int>& threads = {1}) {
    for (const auto& way : phy_test::host_outputs(threads))
        add(*way);
}

/// Where a call has work for several: shorter ones run on the caller's thread alone.
void on_each_with_threads(const std::function<void(HostOutputs&)>& add) {
    on_each(add, {1, 3});
}

class SoftDigests : public testing::TestWithParam<std::string> {};

TEST_P(SoftDigests, AreThoseRecorded) {
    Section section("soft/" + GetParam() + "/");
    on_each([&](HostOutputs& way) {
        add_soft_lines(section, way, phy_test::soft_lines(GetParam()), &Outputs::soft);
    });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::erase(name, '-');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Of, SoftDigests, testing::ValuesIn(phy_test::modulations()), test_name);

TEST(Digests, OfScalesAreThoseRecorded) {
    Section section("scaled/");
    on_each(
        [&](HostOutputs& way) { add_soft_lines(section, way, phy_test::scaled_lines(), &Outputs::soft); });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, OfGainsAreThoseRecorded) {
    Section section("gain/");
    on_each([&](HostOutputs& way) { add_soft_lines(section, way, phy_test::gain_lines(), &Outputs::soft); });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, OfLargeOutputsAreThoseRecorded) {
    Section section("large/");
    on_each_with_threads(
        [&](HostOutputs& way) { add_soft_lines(section, way, phy_test::large_lines(), &Outputs::soft); });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, OfSlotsAreThoseRecorded) {
    Section section("slot/");
    on_each([&](HostOutputs& way) { add_soft_lines(section, way, phy_test::slot_lines(), &Outputs::slot); });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, OfPipelinesAreThoseRecorded) {
    Section section("stage/");
    on_each(
        [&](HostOutputs& way) { add_soft_lines(section, way, phy_test::stage_lines(), &Outputs::stage); });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, OfDescrambledSoftBitsAreThoseRecorded) {
    Section section("descrambled/");
    on_each([&](HostOutputs& way) {
        add_soft_lines(section, way, phy_test::descrambled_lines(), &Outputs::descrambled);
    });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, OfBatchesAreThoseRecorded) {
    Section section("batch/");
    on_each_with_threads([&](HostOutputs& way) { add_batch_lines(section, way, phy_test::batch_lines()); });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, OfMappedSymbolsAreThoseRecorded) {
    Section section("map/");
    on_each([&](HostOutputs& way) { add_map_lines(section, way, phy_test::map_lines()); });
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST(Digests, HaveNoLineThatNoTestCompares) {
    if (phy_test::writes_digests()) GTEST_SKIP() << "written";
    std::vector<std::string> sections = {"scaled",         "gain",        "large",   "slot",
                                         "stage",          "batch",       "map",     "file/capture",
                                         "file/soft-bits", "descrambled", "receive", "transport"};
    for (const std::string& modulation : phy_test::modulations())
        sections.push_back("soft/" + modulation);
    EXPECT_FALSE(phy_test::recorded_digests().empty());
    for (const auto& [name, digest] : phy_test::recorded_digests())
        EXPECT_TRUE(std::ranges::any_of(sections, [&name = name](const std::string& section) {
            return name.starts_with(section + "/");
        })) << name;
}

}  // namespace
