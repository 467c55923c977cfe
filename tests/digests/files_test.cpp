#include "digests/files.hpp"

namespace phy::test {
namespace {

TEST_F(FileDigests, OfCapturesAreThoseRecorded) {
    generate_all();
    phy_test::Section section("file/capture/");
    for (const CaptureLine& line : capture_lines)
        section.add("file/capture/" + line.name, contents(line.name + ".h5"), "capture_gen");
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

TEST_F(FileDigests, OfSoftBitsAreThoseRecorded) {
    generate_all();
    phy_test::Section section("file/soft-bits/");
    for (const Arguments& machine :
         {Arguments{"--backend", "scalar"}, {"--backend", "cpu", "--threads", "3"}, {"--backend", "cpu"}})
        add_soft_bits(section, machine);
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

}  // namespace
}  // namespace phy::test
