#include <gtest/gtest.h>

#include <set>

#include "digests/transport_blocks.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

TEST(Digests, OfTransportBlocksAreThoseRecorded) {
    Section section("transport/");
    for (const CodedCase& coded : coded_cases) {
        std::set<bool> holds;
        for (const phy::Backend& backend : phy::Backend::all()) {
            if (backend.kind() == phy::Backend::Kind::cuda || !backend.supported()) continue;
            for (const int threads : {1, 3}) {
                const phy::Host host = phy::detail::host_of_exactly(threads, backend);
                const std::string way = backend.name() + ", threads: " + std::to_string(threads);
                add_codewords(section, coded, host, way);
                for (const phy::SoftBitFormat format : phy::all_soft_bit_formats) {
                    const DecoderCase noisy = noisy_case(coded, format);
                    phy::TransportDecoder decode(host, noisy.decoder);
                    const DecoderOutputs outputs = decode_thrice(decode, noisy);
                    add_decoded(section, coded, format, outputs, way);
                    for (const phy::DecodedBlock& block : outputs.results)
                        holds.insert(block.crc != 0);
                }
            }
        }
        EXPECT_EQ(holds.size(), 2U) << coded.name;
    }
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

}  // namespace
