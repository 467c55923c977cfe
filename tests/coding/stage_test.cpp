#include "phy/coding/stage.hpp"

#include "coding/stage_items.hpp"
#include "phy/core/error.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::TransportDecoderStage;

TEST_F(TransportDecoderStageTest, GivesTheBytesOfACall) {
    for (int trial = 0; trial < fewer_times(8); ++trial) {
        const DecoderCase decoded = random_case(random_);
        const int version = random_int(random_, 0, 3);
        const DecoderOutputs expected = decoded_by_call(decoded, version);
        for (const std::size_t chunk : {1, 2, 5}) {
            const phy::Host host({.threads = random_int(random_, 1, 3)});
            EXPECT_TRUE(decoded_by_stage(decoded, version, {host}, {.chunk = chunk, .buffer_sets = 2}) ==
                        expected)
                << text_of(decoded.decoder.block) << ", chunks of " << chunk;
        }
    }
}

TEST_F(TransportDecoderStageTest, SplitsUci) {
    for (int trial = 0; trial < fewer_times(20); ++trial) {
        const UciCase sent = random_uci_case(random_);
        const auto expected = outputs_by_calls(sent);
        for (const std::size_t chunk : {1, 2, 5}) {
            const phy::Host host({.threads = random_int(random_, 1, 3)});
            EXPECT_TRUE(outputs_of(sent, {host}, {.chunk = chunk, .buffer_sets = 2}) == expected);
        }
    }
}

TEST_F(TransportDecoderStageTest, TakesTheBitsThatUciLeaves) {
    UciCase sent = random_uci_case(random_);
    sent.stage.decoder.block.coded_bits *= 2;
    EXPECT_THROW(TransportDecoderStage{sent.stage}, phy::ArgumentError);
}

TEST_F(TransportDecoderStageTest, HasPortsForACodeword) {
    const TransportDecoderStage stage(
        {.decoder = {.block = {.size = 1000, .code_rate = 0.5, .coded_bits = 2000},
                     .format = phy::SoftBitFormat::float16}});
    EXPECT_EQ(stage.name(), "decode");
    EXPECT_EQ(stage.inputs(), (std::vector<phy::Port>{{.name = "llr", .bytes = 4000}}));
    EXPECT_EQ(stage.outputs(),
              (std::vector<phy::Port>{{.name = "payload", .bytes = 125}, {.name = "results", .bytes = 16}}));
}

TEST_F(TransportDecoderStageTest, WrongConfigurationsThrow) {
    const TransportDecoderStage::Config right = {
        .decoder = {.block = {.size = 1000, .code_rate = 0.5, .coded_bits = 2000}}};
    EXPECT_NO_THROW(TransportDecoderStage{right});
    const auto fails = [&](const auto& change) {
        TransportDecoderStage::Config config = right;
        change(config);
        EXPECT_THROW(TransportDecoderStage{config}, phy::ArgumentError);
    };
    fails([](auto& config) { config.redundancy_version = 4; });
    fails([](auto& config) { config.redundancy_version = -1; });
    fails([](auto& config) { config.decoder.iterations = 0; });
    fails([](auto& config) { config.decoder.scale = 0.0F; });
    fails([](auto& config) { config.decoder.block.size = 0; });
    fails([](auto& config) { config.decoder.format = static_cast<phy::SoftBitFormat>(17); });
}

}  // namespace
