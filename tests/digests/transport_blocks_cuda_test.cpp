#include <gtest/gtest.h>

#include "coding/decoder_on_gpu.hpp"
#include "digests/transport_blocks.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

TEST(CudaTransportBlockDigests, OfDecodersAreThoseRecorded) {
    PHY_NEEDS_GPU();
    if (writes_digests()) GTEST_SKIP() << "written by the tests of the processor";
    Section section("transport/");
    for (const CodedCase& coded : coded_cases) {
        add_codewords(section, coded, phy::Host(), "the encoder");
        for (const phy::SoftBitFormat format : phy::all_soft_bit_formats)
            add_decoded(section, coded, format, decoded_on_gpu(noisy_case(coded, format), 0), "a GPU");
    }
    EXPECT_EQ(section.differences(), "");
}

}  // namespace
