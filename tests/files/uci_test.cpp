// UCI on PUSCH in recordings: it is taken out, and what it says is what was sent.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
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
using phy::LinkUci;
using Config = phy::apps::Recording::Config;

constexpr const char* names[] = {"ack", "csi1", "csi2"};

std::array<std::size_t, 3> sizes_of(const Link& link) {
    const LinkUci& uci = *link.coding->uci;
    return {uci.ack_bits, uci.csi1_bits, uci.csi2_bits};
}

LinkUci random_uci(std::mt19937& random) {
    const auto bits = [&] {
        return static_cast<std::size_t>(random_int(random, 0, random_int(random, 0, 4) == 0 ? 100 : 11));
    };
    const auto offset = [&] { return random_int(random, 8, 160) / 8.0; };
    LinkUci uci;
    uci.ack_bits = random_int(random, 0, 2) == 0 ? 0 : bits();
    uci.csi1_bits = bits();
    if (uci.csi1_bits > 0 && random_int(random, 0, 1) == 0) uci.csi2_bits = bits();
    uci.ack_offset = offset();
    uci.csi1_offset = offset();
    uci.csi2_offset = offset();
    uci.scaling = std::array{0.5, 0.65, 0.8, 1.0}.at(random() % 4);
    return uci;
}

/// True if each part with a block code has the coded bits that tell its words apart.
bool has_distinct_words(const Link& link) {
    const phy::UciMap map(uci_config(link));
    const auto sizes = sizes_of(link);
    for (std::size_t part = 0; part < sizes.size(); ++part) {
        const auto sources = map.sources(phy::all_uci_parts.at(part + 1));
        const auto punctured = static_cast<std::size_t>(std::ranges::count(sources, -1));
        const std::size_t needed = sizes[part] <= 2 ? 6 * sizes[part] : 4 * sizes[part] + 16;
        if (sizes[part] <= phy::max_block_code_bits &&
            (sources.size() - punctured) * map.bits_per_element() < needed)
            return false;
    }
    return true;
}

/// Any right link with UCI that leaves room for a transport block of half the code rate.
Config random_uci_recording(std::mt19937& random) {
    while (true) {
        Config config = phy_test::random_recording(random, 45.0);
        config.channel = {};
        config.slots = 2;
        // Samples take longer and have the same soft bits.
        if (random_int(random, 0, 9) > 0) config.kind = phy::CaptureKind::grid;
        config.link.coding = {.code_rate = 0.2, .uci = random_uci(random)};
        config.link.coding->redundancy_version = random_int(random, 0, 1) * 3;
        try {
            check(config.link);
        } catch (const phy::ArgumentError&) {
            continue;
        }
        const phy::TransportBlockConfig block = transport_block_config(config.link);
        if (2 * block.size < block.coded_bits && has_distinct_words(config.link)) return config;
    }
}

class UciOfRecordings : public TransportBlocks {
protected:
    /// Of all slots, one part after another in each, as the capture has them.
    static std::vector<std::uint8_t> bits_of(const phy::Reception& done) {
        const auto sizes = sizes_of(done.link);
        std::vector<std::uint8_t> all;
        for (const phy::SlotUci& slot : done.uci) {
            const std::optional<phy::DecodedWord> words[] = {slot.ack, slot.csi1, slot.csi2};
            for (std::size_t part = 0; part < sizes.size(); ++part) {
                const bool is_decoded = sizes[part] > 0 && sizes[part] <= phy::max_block_code_bits;
                EXPECT_EQ(words[part].has_value(), is_decoded) << names[part];
                if (words[part])
                    all.insert(all.end(), words[part]->bits.begin(),
                               words[part]->bits.begin() + static_cast<std::ptrdiff_t>(sizes[part]));
            }
        }
        return all;
    }

    void expect_right(const Config& config, const phy::ReceiveOptions& options = {}) {
        SCOPED_TRACE(to_json(config.link) + "antennas " + std::to_string(config.antennas));
        const AirCapture capture(config);
        const phy::Reception done = received(capture, config.link, options);
        EXPECT_EQ(done.valid_transport_blocks, done.slots);
        EXPECT_EQ(done.uci.size(), done.slots);
        EXPECT_EQ(bits_of(done), capture.uci);
        EXPECT_EQ(done.bit_errors, 0U);
    }

    unsigned seed_ = random_seed();
    testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
    std::mt19937 random_{seed_};
};

TEST_F(UciOfRecordings, IsThatOfRandomLinks) {
    for (int i = 0; i < phy_test::fewer_times(60) && !HasFailure(); ++i) {
        phy::ReceiveOptions options;
        options.format = phy::all_soft_bit_formats.at(random_() % phy::all_soft_bit_formats.size());
        options.llr.scale = random_int(random_, 0, 1) == 0 ? 6.0F : 3.5F;
        options.writes_symbols = random_int(random_, 0, 1) == 0;
        options.writes_channel = random_int(random_, 0, 1) == 0;
        expect_right(random_uci_recording(random_), options);
    }
}

/// HARQ-ACK of 1 and 2 bits, which punctures, alone and over CSI, with placeholders of all modulations.
TEST_F(UciOfRecordings, PuncturesAndHasPlaceholders) {
    for (const phy::Modulation modulation :
         {phy::Modulation::qpsk, phy::Modulation::qam16, phy::Modulation::qam64, phy::Modulation::qam256}) {
        for (const std::size_t bits : {1, 2}) {
            Config config = phy_test::plain_recording();
            config.channel = {};
            config.snr_db = 40.0;
            config.slots = 2;
            config.kind = phy::CaptureKind::grid;
            config.link.modulation = modulation;
            config.link.coding = {.code_rate = 0.3, .uci = LinkUci{.ack_bits = bits}};
            expect_right(config);
            config.link.coding->uci = LinkUci{.ack_bits = bits, .csi1_bits = 2, .csi2_bits = 1};
            expect_right(config);
        }
    }
}

TEST_F(UciOfRecordings, IsFoundBehindTransformPrecoding) {
    for (const phy::Modulation modulation : {phy::Modulation::pi2_bpsk, phy::Modulation::qam16}) {
        Config config = uci_recording();
        config.channel = {};
        config.link.modulation = modulation;
        config.link.allocation.dmrs.transform_precoding = true;
        expect_right(config);
    }
}

TEST_F(UciOfRecordings, ErasedSubcarriersKeepTheirPlaces) {
    Config config = uci_recording();
    config.channel = {};
    config.link.allocation.erased_subcarriers = {150, 151};
    const AirCapture capture(config);
    const phy::Reception done = received(capture, config.link);
    EXPECT_EQ(done.valid_transport_blocks, 8U);
    EXPECT_EQ(bits_of(done), capture.uci);
}

TEST_F(UciOfRecordings, IsWritten) {
    const AirCapture capture(uci_recording());
    phy::ReceiveOptions options;
    options.writes_uci = true;
    const phy::Reception done = received(capture, capture.sent.link, options);
    EXPECT_EQ(done.warnings, std::vector<std::string>());
    const phy::UciMap map(uci_config(capture.sent.link));
    std::vector<std::uint8_t> sent;
    const auto ack = written("/uci_ack");
    const auto csi1 = written("/uci_csi1");
    ASSERT_EQ(ack.size(), 8 * 5U);
    ASSERT_EQ(csi1.size(), 8 * 4U);
    for (std::size_t slot = 0; slot < 8; ++slot) {
        for (std::size_t bit = 0; bit < 5; ++bit)
            sent.push_back(std::to_integer<std::uint8_t>(ack[5 * slot + bit]));
        for (std::size_t bit = 0; bit < 4; ++bit)
            sent.push_back(std::to_integer<std::uint8_t>(csi1[4 * slot + bit]));
    }
    EXPECT_EQ(sent, capture.uci);
    const auto margins = written("/uci_csi1_margin");
    ASSERT_EQ(margins.size(), 8 * sizeof(float));
    for (std::size_t slot = 0; slot < 8; ++slot) {
        float margin = 0.0F;
        std::memcpy(&margin, margins.data() + slot * sizeof margin, sizeof margin);
        EXPECT_EQ(margin, done.uci[slot].csi1->margin);
        EXPECT_GT(margin, 16.0F);
    }

    // The soft bits are those of the codeword.
    const auto llr = written("/llr");
    std::vector<std::int8_t> parts[4];
    for (const phy::UciPart part : phy::all_uci_parts)
        parts[static_cast<std::size_t>(part)].resize(map.coded_bits(part));
    const auto second = std::span(llr).subspan(map.coded_bits(), map.coded_bits());
    map.split({phy::SoftBitFormat::int8, second}, {parts[0], parts[1], parts[2], parts[3]});
    for (std::size_t part = 0; part < 3; ++part) {
        const auto of_part = written("/uci_" + std::string(names[part]) + "_llr");
        const auto& expected = parts[part + 1];
        ASSERT_EQ(of_part.size(), 8 * expected.size());
        EXPECT_TRUE(std::ranges::equal(std::span(of_part).subspan(expected.size(), expected.size()),
                                       std::as_bytes(std::span(expected))));
    }
    EXPECT_THROW((void)written("/uci_csi2"), std::exception);
}

TEST_F(UciOfRecordings, ThatALinkMisstatesSpoilsTransportBlocks) {
    const AirCapture capture(uci_recording());
    const auto fails = [&](const std::function<void(std::optional<LinkUci>&)>& change,
                           const std::string& hint) {
        Link link = capture.sent.link;
        change(link.coding->uci);
        const phy::Reception done = received(capture, link);
        EXPECT_EQ(done.valid_transport_blocks, 0U) << to_json(link);
        ASSERT_EQ(done.warnings.size(), 1U);
        EXPECT_NE(done.warnings.front().find(hint), std::string::npos) << done.warnings.front();
    };
    fails([](auto& uci) { uci.reset(); }, "the PUSCH carries UCI that coding.uci does not describe");
    fails([](auto& uci) { uci->ack_bits = 4; }, "coding.uci is wrong");
    fails([](auto& uci) { uci->csi1_offset = 2.0; }, "coding.uci is wrong");
    fails([](auto& uci) { uci->csi2_bits = 19; }, "coding.uci is wrong");
    Config plain = uci_recording();
    plain.link.coding->uci.reset();
    const AirCapture without(plain);
    Link link = plain.link;
    link.coding->uci = LinkUci{.ack_bits = 3};
    const phy::Reception done = received(without, link);
    EXPECT_EQ(done.valid_transport_blocks, 0U);
    // Soft bits of something else contradict each other.
    std::vector<float> margins;
    for (const phy::SlotUci& slot : done.uci)
        margins.push_back(slot.ack->margin);
    std::ranges::sort(margins);
    EXPECT_LT(margins[4], 16.0F);
}

/// A CRC of the transport block does not tell where parts of the UCI are among themselves.
TEST_F(UciOfRecordings, ThatALinkMisstatesIsDoubtful) {
    Config config = uci_recording();
    config.channel = {};
    config.link.coding->uci = LinkUci{.ack_bits = 2, .csi1_bits = 7, .csi2_bits = 5};
    const AirCapture capture(config);
    const auto doubtful = [&](const std::function<void(LinkUci&)>& change, std::vector<std::string> parts) {
        Link link = capture.sent.link;
        change(*link.coding->uci);
        SCOPED_TRACE(to_json(link));
        const phy::Reception done = received(capture, link);
        EXPECT_GE(4 * done.valid_transport_blocks, done.slots);
        ASSERT_EQ(done.warnings.size(), parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i)
            EXPECT_NE(done.warnings[i].find("the bits of " + parts[i] + " are doubtful"), std::string::npos)
                << done.warnings[i];
    };
    doubtful([](LinkUci&) {}, {});
    doubtful([](LinkUci& uci) { std::swap(uci.csi1_bits, uci.csi2_bits); }, {"CSI part 1", "CSI part 2"});
}

TEST_F(UciOfRecordings, IsNotDecodedWithoutAWish) {
    const AirCapture capture(uci_recording());
    phy::ReceiveOptions options;
    options.decodes = false;
    EXPECT_TRUE(received(capture, capture.sent.link, options).uci.empty());
    options.writes_uci = true;
    EXPECT_THROW(received(capture, capture.sent.link, options), phy::ArgumentError);
    options.decodes = true;
    Link link = capture.sent.link;
    link.coding->uci.reset();
    EXPECT_THROW(received(capture, link, options), phy::FileError);
    output_ = folder_ / "out.npy";
    EXPECT_THROW(received(capture, capture.sent.link, options), phy::ArgumentError);
}

TEST_F(UciOfRecordings, GivenBitsAreSent) {
    Config config = uci_recording();
    config.uci = {{{1, 0, 1, 1, 0}, {}, {}}};
    const AirCapture capture(config);
    const phy::Reception done = received(capture, config.link);
    for (const phy::SlotUci& slot : done.uci)
        EXPECT_TRUE(std::ranges::equal(std::span(slot.ack->bits).first(5), config.uci[0]));
    config.uci[0].pop_back();
    EXPECT_THROW(AirCapture{config}, phy::ArgumentError);
    config.uci = {{{}, {}, std::vector<std::uint8_t>(20)}};
    EXPECT_THROW(AirCapture{config}, phy::ArgumentError);
}

TEST_F(UciOfRecordings, ADiagnosisFindsTheScrambling) {
    const AirCapture capture(uci_recording());
    phy::ReceiveOptions options;
    options.diagnoses = true;
    Link link = capture.sent.link;
    link.scrambling.id ^= 5U;
    const std::string diagnosis = received(capture, link, options).diagnosis;
    EXPECT_NE(diagnosis.find("with allocation.scrambling_id 77 first code blocks of 4 of 4"),
              std::string::npos)
        << diagnosis;
}

}  // namespace
