#include "digests/files.hpp"
#include "support/gpu.hpp"

namespace phy::test {
namespace {

TEST_F(FileDigests, OfSoftBitsFromAGpuAreThoseRecorded) {
    PHY_NEEDS_GPU();
    if (phy_test::writes_digests()) GTEST_SKIP() << "written by the tests of the processor";
    generate_all();
    phy_test::Section section("file/soft-bits/");
    add_soft_bits(section, {"--backend", "cuda"});
    EXPECT_EQ(section.differences(), "");
}

}  // namespace
}  // namespace phy::test
