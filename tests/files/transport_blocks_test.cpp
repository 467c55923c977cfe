// Transport blocks of recordings: those of right links hold, and none of wrong ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"
#include "support/random_seed.hpp"
#include "transport_blocks.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Link;
using Config = phy::apps::Recording::Config;

bool has_warning(const phy::Reception& done, const std::string& part = "no transport block has a valid CRC") {
    return std::ranges::any_of(
        done.warnings, [&](const std::string& warning) { return warning.find(part) != std::string::npos; });
}

TEST_F(TransportBlocks, OfARightLinkHold) {
    const AirCapture capture(coded_recording());
    for (const phy::SoftBitFormat format : phy::all_soft_bit_formats) {
        phy::ReceiveOptions options;
        options.writes_payload = true;
        options.format = format;
        options.llr.scale = 3.5F;
        const phy::Reception done = received(capture, capture.sent.link, options);
        EXPECT_EQ(done.valid_transport_blocks, 8U);
        ASSERT_EQ(done.transport_blocks.size(), 8U);
        EXPECT_EQ(done.warnings, std::vector<std::string>());
        const auto sent = std::as_bytes(std::span(capture.transport_blocks));
        EXPECT_TRUE(std::ranges::equal(written("/transport_blocks"), sent));
        EXPECT_EQ(written("/crc"), std::vector(8, std::byte{1}));
    }
}

TEST_F(TransportBlocks, OfARightLinkHoldForAnySizeOfSoftBits) {
    const AirCapture capture(coded_recording());
    for (const auto& [scale, clip] :
         {std::pair(4096.0F, 127), std::pair(4096.0F, 1), std::pair(1600.0F, 127), std::pair(6.0F, 1)}) {
        phy::ReceiveOptions options;
        options.llr = {.scale = scale, .clip = clip};
        const phy::Reception done = received(capture, capture.sent.link, options);
        EXPECT_EQ(done.valid_transport_blocks, 8U) << scale << ", " << clip;
        EXPECT_EQ(done.warnings, std::vector<std::string>()) << scale << ", " << clip;
    }
}

TEST_F(TransportBlocks, AmongPrecodedPtrsHold) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (int trial = 0; trial < fewer_times(8); ++trial) {
        Config config = precoded_recording(random, 30.0);
        config.antennas = 4;
        config.link.modulation = phy::Modulation::qam16;
        config.link.coding = {.code_rate = 0.25};
        // PT-RS and UCI leave few coded bits in few resource blocks.
        if (config.link.allocation.resource_blocks.front().count >= 12)
            config.link.coding->uci = phy::LinkUci{.ack_bits = 6, .csi1_bits = 5};
        const AirCapture capture(config);
        phy::ReceiveOptions options;
        options.writes_payload = true;
        const phy::Reception done = received(capture, config.link, options);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial) + ": " +
                     to_json(config.link));
        EXPECT_EQ(done.valid_transport_blocks, done.slots);
        EXPECT_TRUE(std::ranges::equal(written("/transport_blocks"),
                                       std::as_bytes(std::span(capture.transport_blocks))));
        EXPECT_EQ(done.warnings, std::vector<std::string>());
        phy::Link without = config.link;
        without.allocation.ptrs.reset();
        EXPECT_EQ(received(capture, without).valid_transport_blocks, 0U);
    }
}

TEST_F(TransportBlocks, ThatFewIterationsSpoilDoNotBlameTheLink) {
    Config config = coded_recording();
    config.snr_db = 26.0;
    const AirCapture capture(config);
    EXPECT_TRUE(received(capture, config.link).warnings.empty());
    phy::ReceiveOptions hasty;
    hasty.decoder_iterations = 1;
    const phy::Reception done = received(capture, config.link, hasty);
    EXPECT_EQ(done.valid_transport_blocks, 0U);
    EXPECT_EQ(done.warnings.size(), 1U);
    EXPECT_TRUE(has_warning(done, "llr_scale, llr_clip or decoder_iterations lose too much"));
}

TEST_F(TransportBlocks, AreNotDecodedWithoutAWishOrWithoutCoding) {
    const AirCapture capture(coded_recording());
    phy::ReceiveOptions options;
    options.decodes = false;
    const phy::Reception undecoded = received(capture, capture.sent.link, options);
    EXPECT_TRUE(undecoded.transport_blocks.empty());
    EXPECT_FALSE(has_warning(undecoded));
    options.writes_payload = true;
    EXPECT_THROW(received(capture, capture.sent.link, options), phy::ArgumentError);
    Link plain = capture.sent.link;
    plain.coding.reset();
    EXPECT_TRUE(received(capture, plain).transport_blocks.empty());
    options.decodes = true;
    EXPECT_THROW(received(capture, plain, options), phy::FileError);
}

TEST_F(TransportBlocks, OfAWrongLinkFail) {
    const AirCapture capture(coded_recording());
    const auto fails = [&](const std::function<void(Link&)>& change) {
        Link link = capture.sent.link;
        change(link);
        const phy::Reception done = received(capture, link);
        EXPECT_EQ(done.valid_transport_blocks, 0U) << to_json(link);
        EXPECT_EQ(done.transport_blocks.size(), 8U);
        EXPECT_TRUE(has_warning(done)) << to_json(link);
    };
    fails([](Link& link) { link.scrambling.rnti ^= 1U; });
    fails([](Link& link) { link.coding->redundancy_version = 2; });
    fails([](Link& link) { link.coding->code_rate = 0.52; });
    fails([](Link& link) { link.coding->overhead = 18; });
}

using Change = std::function<void(Link&)>;

/// A diagnosis proves what it names.
class DiagnosedBlocks : public TransportBlocks {
protected:
    phy::Reception diagnosed(const AirCapture& capture, const Change& change) {
        Link link = capture.sent.link;
        change(link);
        phy::ReceiveOptions options;
        options.diagnoses = true;
        return received(capture, link, options);
    }

    void expect_diagnosis(const AirCapture& capture, const Change& change, const std::string& expected) {
        const phy::Reception done = diagnosed(capture, change);
        EXPECT_NE(done.diagnosis.find(expected), std::string::npos) << done.diagnosis;
        EXPECT_TRUE(std::ranges::any_of(done.warnings, [&](const std::string& warning) {
            return warning.find(expected) != std::string::npos || expected.starts_with("no rnti");
        })) << expected;
    }

    const std::string proof_ = " first code blocks of 4 of 4 slots have a valid CRC";
};

TEST_F(DiagnosedBlocks, ShowTheirScrambling) {
    const AirCapture capture(coded_recording());
    const phy::ScramblingIdentity sent = capture.sent.link.scrambling;
    expect_diagnosis(
        capture, [](Link& link) { link.scrambling.rnti ^= 1U; },
        (testing::Message() << std::hex << "with allocation.rnti 0x" << sent.rnti << proof_).GetString());
    expect_diagnosis(
        capture, [](Link& link) { link.scrambling.id ^= 5U; },
        "with allocation.scrambling_id " + std::to_string(sent.id) + proof_);
    expect_diagnosis(
        capture, [](Link& link) { link.coding->redundancy_version = 2; },
        "with coding.redundancy_version 0" + proof_);
    if (phy_test::takes_fewer_cases()) return;
    // TS 38.214 does not give this size.
    Config config = coded_recording();
    config.link.coding->transport_block_size = 10008;
    expect_diagnosis(
        AirCapture(config), [](Link& link) { link.coding->transport_block_size.reset(); },
        "no rnti, scrambling_id, codeword, redundancy_version, mcs_index with this modulation or overhead "
        "alone");
}

TEST_F(DiagnosedBlocks, ShowTheirCoding) {
    Config config = coded_recording();
    config.link.coding->code_rate = 567.0 / 1024;
    config.link.coding->overhead = 6;
    const AirCapture capture(config);
    const std::string rate =
        "coding.code_rate_x1024 567 (allocation.mcs_index 20 of mcs_table \"qam64\", 13 of mcs_table "
        "\"qam256\", 24 of mcs_table \"qam64LowSE\")";
    expect_diagnosis(
        capture, [](Link& link) { link.coding->code_rate = 873.0 / 1024; }, "with " + rate + proof_);
    expect_diagnosis(
        capture, [](Link& link) { link.coding->overhead = 0; }, "with coding.overhead 6" + proof_);
    expect_diagnosis(
        capture, [](Link& link) { link.coding->transport_block_size = 10008; },
        "with coding.transport_block_size " + std::to_string(transport_block_config(config.link).size) +
            proof_);
    expect_diagnosis(
        capture,
        [](Link& link) {
            link.modulation = phy::Modulation::qam16;
            link.coding->code_rate = 340.0 / 1024;
        },
        "with allocation.modulation 64qam, " + rate + proof_);
}

TEST_F(DiagnosedBlocks, ShowThePowerOfTheirDmrs) {
    Config config = coded_recording();
    config.link.allocation.dmrs.power_db = 0.0F;
    config.link.coding->code_rate = 0.8;  // so that nothing is decoded with another power
    const AirCapture capture(config);
    expect_diagnosis(
        capture, [](Link& link) { link.allocation.dmrs.power_db.reset(); },
        "with allocation.dmrs.power_db 0" + proof_);
    expect_diagnosis(
        capture, [](Link& link) { link.allocation.dmrs.power_db = -4.77F; }, "dmrs.power_db 0" + proof_);
}

/// Links of any kind, right and with one wrong value of their coding or the power of their DM-RS.
TEST_F(DiagnosedBlocks, ShowOneMistakeOfAnyLink) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (int trial = 0; trial < (phy_test::takes_fewer_cases() ? 3 : 6); ++trial) {
        Config config = phy_test::random_recording(random, 40.0);
        ++config.antennas;
        const bool is_qam16 = random() % 2 == 0;
        config.link.modulation = is_qam16 ? phy::Modulation::qam16 : phy::Modulation::qam64;
        config.link.coding = {.code_rate = (is_qam16 ? 490.0 : 517.0) / 1024};
        const float usual =
            10.0F * std::log10(static_cast<float>(config.link.allocation.dmrs.cdm_groups_without_data));
        if (trial % 3 == 2) {
            // With less, or a lower rate, blocks may be decoded all the same.
            config.link.allocation.dmrs.power_db = usual + (random() % 2 == 0 ? -6.0F : 6.0F);
            config.link.coding->code_rate = 0.85;
        }
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << ", trial " << trial << ": " << to_json(config.link));
        const AirCapture capture(config);
        const phy::Reception right = diagnosed(capture, [](Link&) {});
        EXPECT_GT(right.valid_transport_blocks, 0U);
        EXPECT_EQ(right.diagnosis.find("the best is allocation"), std::string::npos) << right.diagnosis;
        const std::string found = diagnosed(capture, [&](Link& link) {
                                      if (trial % 3 == 0) link.coding->code_rate = 378.0 / 1024;
                                      if (trial % 3 == 1) link.coding->overhead = 18;
                                      if (trial % 3 == 2) link.allocation.dmrs.power_db.reset();
                                  }).diagnosis;
        if (trial % 3 == 2) {
            const std::size_t value = found.find("the best is allocation.dmrs.power_db ");
            ASSERT_NE(value, std::string::npos) << found;
            EXPECT_NEAR(std::stod(found.substr(value + 37)), *config.link.allocation.dmrs.power_db, 0.3);
            continue;
        }
        const std::string rate = is_qam16 ? "coding.code_rate_x1024 490 (" : "coding.code_rate_x1024 517 (";
        EXPECT_NE(found.find(trial % 3 == 0 ? rate : "coding.overhead 0"), std::string::npos) << found;
        EXPECT_NE(found.find("slots have a valid CRC"), std::string::npos) << found;
    }
}

TEST_F(TransportBlocks, OfSlotsThatAreNotWholeFail) {
    Config config = coded_recording();
    config.channel = {};
    config.slots = 60;
    config.gaps = {{.first = 25 * 5760 + 1000, .count = 200}};
    const AirCapture capture(config);
    const phy::Reception done = received(capture, config.link);
    ASSERT_EQ(done.gaps.size(), 1U);
    ASSERT_EQ(done.transport_blocks.size(), 60U);
    EXPECT_EQ(done.valid_transport_blocks, 60U - done.gaps.front().lost_slots);
    EXPECT_EQ(done.transport_blocks[25].crc, 0U);
    EXPECT_FALSE(has_warning(done));
}

TEST_F(TransportBlocks, InNoiseFailWithoutAWarning) {
    Config config = coded_recording();
    config.snr_db = 3.0;
    const AirCapture capture(config);
    const phy::Reception done = received(capture, config.link);
    EXPECT_EQ(done.valid_transport_blocks, 0U);
    EXPECT_FALSE(has_warning(done));
}

TEST_F(TransportBlocks, AnyRedundancyVersionThatDecodesAloneHolds) {
    Config config = coded_recording();
    config.link.coding->redundancy_version = 3;
    const AirCapture capture(config);
    EXPECT_EQ(received(capture, config.link).valid_transport_blocks, 8U);
}

/// Any redundancy version, MCS and SNR in one slot of few or more resource blocks.
Config random_coded_recording(std::mt19937& random, double least_snr_db) {
    Config config;
    config.kind = phy::CaptureKind::grid;
    config.snr_db = std::uniform_real_distribution<double>(least_snr_db, 40.0)(random);
    config.seed = random();
    Link& link = config.link;
    link.modulation = phy::all_modulations[static_cast<std::size_t>(phy_test::random_int(random, 2, 5))];
    link.scrambling = {.rnti = 17921, .id = 77};
    link.allocation.carrier_resource_blocks = 40;
    link.allocation.resource_blocks = {{.first = 2, .count = phy_test::random_int(random, 1, 36)}};
    link.coding = {.code_rate = std::uniform_real_distribution<double>(0.1, 0.95)(random)};
    return config;
}

TEST_F(TransportBlocks, OfARightLinkThatFailDoNotBlameIt) {
    const auto seed = random_seed();
    int incomplete = 0;
    for (int i = 0; i < phy_test::fewer_times(60); ++i) {
        std::mt19937 random(seed + static_cast<unsigned>(i));
        Config config = random_coded_recording(random, 0.0);
        config.link.coding->redundancy_version = phy_test::random_int(random, 0, 3);
        const std::optional<phy::Reception> found = received_if_found(AirCapture(config), config.link);
        if (!found) continue;
        const phy::Reception& done = *found;
        const bool is_named = has_warning(done, "and none can have: without noise too");
        incomplete += is_named ? 1 : 0;
        const std::string text = (testing::Message() << "seed " << seed + static_cast<unsigned>(i) << ", "
                                                     << config.snr_db << " dB, " << to_json(config.link))
                                     .GetString();
        EXPECT_FALSE(has_warning(done, "allocation.rnti")) << text;
        EXPECT_FALSE(is_named && done.valid_transport_blocks > 0) << text;
        const bool is_clear = config.snr_db > 37.0 && config.link.modulation == phy::Modulation::qpsk;
        EXPECT_TRUE(!is_clear || is_named || done.valid_transport_blocks > 0) << text;
    }
    EXPECT_TRUE(phy_test::takes_fewer_cases() || incomplete > 0) << "seed " << seed;
}

TEST_F(TransportBlocks, OfAWrongLinkBlameItInSmallAllocationsToo) {
    const auto seed = random_seed();
    for (int i = 0; i < phy_test::fewer_times(30); ++i) {
        std::mt19937 random(seed + static_cast<unsigned>(i));
        Config config = random_coded_recording(random, 36.0);
        config.link.modulation = phy::Modulation::qam16;
        config.link.coding->code_rate = std::min(0.8, *config.link.coding->code_rate);
        Link link = config.link;
        link.scrambling.rnti ^= 1U;
        const phy::Reception done = received(AirCapture(config), link);
        EXPECT_TRUE(has_warning(done, "allocation.rnti"))
            << "seed " << seed + static_cast<unsigned>(i) << ", " << config.snr_db << " dB, "
            << to_json(link);
    }
}

/// As with DM-RS of another power than the link says.
TEST_F(TransportBlocks, ProveALinkWhoseSymbolsLookWrong) {
    const auto seed = random_seed();
    int contradicted = 0;
    for (int i = 0; i < phy_test::fewer_times(20); ++i) {
        std::mt19937 random(seed + static_cast<unsigned>(i));
        Config config = random_coded_recording(random, 39.0);
        config.link.coding->code_rate = 0.2;
        config.link.modulation = phy::Modulation::qam64;
        const AirCapture capture(config);
        Link link = config.link;
        phy::DmrsConfig& dmrs = link.allocation.dmrs;
        dmrs.power_db = 1.0F + 20.0F * std::log10(phy::dmrs_amplitude(dmrs));
        const phy::Reception done = received(capture, link);
        if (done.valid_transport_blocks == 0) continue;
        EXPECT_EQ(done.warnings, std::vector<std::string>())
            << "seed " << seed + static_cast<unsigned>(i) << ", " << to_json(link);
        phy::ReceiveOptions options;
        options.decodes = false;
        contradicted += received(capture, link, options).warnings.empty() ? 0 : 1;
    }
    EXPECT_TRUE(phy_test::takes_fewer_cases() || contradicted > 0) << "seed " << seed;
}

/// A single resource block shows its noise between DM-RS symbols, so that no right link looks wrong.
TEST_F(TransportBlocks, OfSingleResourceBlocksNeedNoProof) {
    const auto seed = random_seed();
    phy::ReceiveOptions options;
    options.decodes = false;
    for (int i = 0; i < phy_test::fewer_times(40); ++i) {
        std::mt19937 random(seed + static_cast<unsigned>(i));
        Config config = random_coded_recording(random, 39.0);
        config.antennas = 2;
        config.link.coding->code_rate = 0.2;
        config.link.modulation = phy::Modulation::qam256;
        config.link.allocation.resource_blocks = {{.first = 3, .count = 1}};
        config.link.allocation.dmrs.type = 2;
        config.link.allocation.dmrs.cdm_groups_without_data = 3;
        config.link.allocation.dmrs.ports = {0, 3};
        const AirCapture capture(config);
        EXPECT_EQ(received(capture, config.link, options).warnings, std::vector<std::string>())
            << "seed " << seed + static_cast<unsigned>(i) << ", " << to_json(config.link);
    }
}

}  // namespace
