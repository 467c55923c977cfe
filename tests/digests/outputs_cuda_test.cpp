#include <gtest/gtest.h>

#include "digests/lines.hpp"
#include "support/gpu.hpp"

/// A GPU gives the digests that a processor gives.
namespace {

using phy_test::fewer_cases;
using phy_test::Outputs;
using phy_test::Section;

class CudaDigests : public testing::Test {
protected:
    void SetUp() override {
        PHY_NEEDS_GPU();
        if (phy_test::writes_digests()) GTEST_SKIP() << "written by the tests of the processor";
        gpu_ = phy_test::gpu_outputs();
    }

    std::unique_ptr<Outputs> gpu_;
};

TEST_F(CudaDigests, OfSoftBitsAreThoseRecorded) {
    Section section("soft/");
    for (const std::string& modulation : phy_test::modulations())
        add_soft_lines(section, *gpu_, fewer_cases(phy_test::soft_lines(modulation)), &Outputs::soft);
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfScalesAreThoseRecorded) {
    Section section("scaled/");
    add_soft_lines(section, *gpu_, fewer_cases(phy_test::scaled_lines()), &Outputs::soft);
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfGainsAreThoseRecorded) {
    Section section("gain/");
    add_soft_lines(section, *gpu_, fewer_cases(phy_test::gain_lines()), &Outputs::soft);
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfLargeOutputsAreThoseRecorded) {
    Section section("large/");
    add_soft_lines(section, *gpu_, phy_test::large_lines(), &Outputs::soft);
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfSlotsAreThoseRecorded) {
    Section section("slot/");
    add_soft_lines(section, *gpu_, fewer_cases(phy_test::slot_lines()), &Outputs::slot);
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfPipelinesAreThoseRecorded) {
    Section section("stage/");
    add_soft_lines(section, *gpu_, fewer_cases(phy_test::stage_lines()), &Outputs::stage);
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfDescrambledSoftBitsAreThoseRecorded) {
    Section section("descrambled/");
    add_soft_lines(section, *gpu_, fewer_cases(phy_test::descrambled_lines()), &Outputs::descrambled);
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfBatchesAreThoseRecorded) {
    Section section("batch/");
    add_batch_lines(section, *gpu_, fewer_cases(phy_test::batch_lines()));
    EXPECT_EQ(section.differences(), "");
}

TEST_F(CudaDigests, OfMappedSymbolsAreThoseRecorded) {
    Section section("map/");
    add_map_lines(section, *gpu_, fewer_cases(phy_test::map_lines()));
    EXPECT_EQ(section.differences(), "");
}

}  // namespace
