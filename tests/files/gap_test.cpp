// Recordings that lack samples, from a cyclic prefix to a few symbols, or that are as short as a slot.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "phy/files/receive.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy_test::AirCapture;
using phy_test::fewer_times;
using phy_test::random_int;
using Config = phy::apps::Recording::Config;

/// Of plain_recording() at 30 kHz.
constexpr int fft_size = 384;
constexpr int prefix = 27;
constexpr std::size_t slot_samples = 5760;

class Gaps : public testing::Test {
protected:
    /// All slots of a link with random DM-RS.
    Config random_config(std::uint64_t slots) {
        Config config = phy_test::plain_recording();
        config.channel = {};
        config.slots = slots;
        config.seed = random_();
        config.snr_db = random_int(random_, 15, 36);
        config.timing_offset = 0.0;
        config.link.modulation = phy::Modulation::qam16;
        phy::DmrsConfig& dmrs = config.link.allocation.dmrs;
        const std::vector<std::vector<int>> symbols = {{2}, {2, 11}, {2, 7, 11}, {2, 5, 8, 11}};
        dmrs.symbols = symbols[random_() % symbols.size()];
        dmrs.type = random_int(random_, 1, 2);
        phy_test::choose_ports(dmrs, random_int(random_, 1, 2), random_);
        return config;
    }

    phy::Reception receive(const AirCapture& sent, const phy::Link& link) {
        sent.write(capture_, link);
        return phy::receive_file(capture_, {}, {});
    }

    phy_test::TemporaryDirectory folder_;
    const std::filesystem::path capture_ = folder_ / "capture.h5";
    std::uint32_t seed_ = phy_test::random_seed();
    std::mt19937 random_{seed_};
};

/// Without samples, or with some twice.
void drop(AirCapture& sent, std::size_t first, int count) {
    const std::size_t length = sent.length();
    std::vector<phy::cf32> data;
    for (int antenna = 0; antenna < sent.sent.antennas; ++antenna) {
        const auto begin = sent.data.begin() + static_cast<std::ptrdiff_t>(antenna * length);
        data.insert(data.end(), begin, begin + static_cast<std::ptrdiff_t>(first));
        data.insert(data.end(), begin + static_cast<std::ptrdiff_t>(first) + count,
                    begin + static_cast<std::ptrdiff_t>(length));
    }
    sent.data = data;
}

/// DM-RS show the timing modulo a quarter (type 1) or a sixth of a symbol.
TEST_F(Gaps, OfAPrefixToSomeSymbolsAreFound) {
    for (int trial = 0; trial < fewer_times(12); ++trial) {
        const Config config = random_config(60);
        const int part = fft_size / std::vector{8, 6, 4, 3, 2, 1}[random_() % 6];
        const int count = trial % 2 == 0 ? part + random_int(random_, -6, 6)
                                         : random_int(random_, 2 * prefix, 2 * fft_size);
        // In most slots that are neither among the first nor among the last.
        const std::size_t first = slot_samples * 15 + random_() % (slot_samples * 30);
        SCOPED_TRACE(std::to_string(count) + " after " + std::to_string(first) + ", trial " +
                     std::to_string(trial) + ", seed " + std::to_string(seed_));
        AirCapture sent(config);
        drop(sent, first, count);
        const phy::Reception done = receive(sent, config.link);
        ASSERT_EQ(done.gaps.size(), 1U);
        const phy::MissingSamples& gap = done.gaps.front();
        EXPECT_NEAR(static_cast<double>(gap.missing), count, 2.0);
        EXPECT_GE(gap.lost_slots, 1U);
        EXPECT_LE(gap.lost_slots, 2U);
        std::vector<double> errors;
        for (const phy::SlotReport& report : done.reports)
            if (report.slot < gap.first_lost || report.slot >= gap.end_lost) errors.push_back(report.evm);
        std::ranges::sort(errors);
        // A slot that lacks a part of one symbol may pass.
        EXPECT_LT(errors[errors.size() - 2], 1.3 * errors[errors.size() / 2]);
    }
}

/// The frequency of all slots is measured over the first ones. At a wrong place they show the DM-RS of
/// neighbouring subcarriers.
TEST_F(Gaps, AmongTheFirstSlotsDoNotChangeTheFrequency) {
    for (int trial = 0; trial < fewer_times(16); ++trial) {
        Config config = random_config(24);
        config.snr_db = random_int(random_, 22, 36);
        // Ports of several CDM groups look like one another some subcarriers off.
        config.link.allocation.dmrs.ports.resize(1);
        const double spacing = config.link.carrier.subcarrier_spacing;
        config.frequency_offset = spacing * 0.01 * random_int(random_, -150, 150);
        const int count = random_int(random_, 2 * prefix, 2 * fft_size);
        const std::size_t first = slot_samples * 3 / 2 + random_() % (slot_samples * 7);
        SCOPED_TRACE(std::to_string(count) + " after " + std::to_string(first) + " at " +
                     std::to_string(config.frequency_offset) + " Hz, trial " + std::to_string(trial) +
                     ", seed " + std::to_string(seed_));
        phy::Link link = config.link;
        if (trial % 2 == 1) link.carrier.first_sample.reset();
        AirCapture sent(config);
        drop(sent, first, count);
        const phy::Reception done = receive(sent, link);
        EXPECT_NEAR(done.mean.frequency_offset, config.frequency_offset, 0.01 * spacing);
        const auto damaged = std::ranges::count_if(
            done.reports, [](const phy::SlotReport& report) { return !(report.evm < 0.3); });
        EXPECT_LE(damaged, 2);
    }
}

/// Nothing follows the last slot that would show how well it should be received.
TEST_F(Gaps, InTheLastSlotLoseThatSlot) {
    for (int trial = 0; trial < fewer_times(8); ++trial) {
        Config config = random_config(31);
        config.snr_db = random_int(random_, 25, 36);
        config.link.allocation.dmrs.symbols = {2, 7, 11};
        const int count = random_int(random_, 4 * prefix, fft_size);
        // Between the first DM-RS symbol and the second.
        const std::size_t first = slot_samples * 29 + 4 * (fft_size + prefix) + random_() % fft_size;
        SCOPED_TRACE(std::to_string(count) + " after " + std::to_string(first) + ", trial " +
                     std::to_string(trial) + ", seed " + std::to_string(seed_));
        AirCapture sent(config);
        drop(sent, first, count);
        drop(sent, slot_samples * 30, static_cast<int>(slot_samples) - count);
        const phy::Reception done = receive(sent, config.link);
        ASSERT_EQ(done.gaps.size(), 1U);
        EXPECT_EQ(done.gaps.front().first_lost, 29U);
        EXPECT_EQ(done.gaps.front().lost_slots, 1U);
    }
}

TEST_F(Gaps, RepeatedSamplesAreFound) {
    for (int trial = 0; trial < fewer_times(6); ++trial) {
        const Config config = random_config(60);
        const int count = random_int(random_, prefix + 5, fft_size / 3);
        const std::size_t first = slot_samples * 15 + random_() % (slot_samples * 30);
        SCOPED_TRACE(std::to_string(count) + " after " + std::to_string(first) + ", trial " +
                     std::to_string(trial) + ", seed " + std::to_string(seed_));
        AirCapture sent(config);
        drop(sent, first, -count);
        const phy::Reception done = receive(sent, config.link);
        ASSERT_EQ(done.gaps.size(), 1U);
        EXPECT_NEAR(static_cast<double>(done.gaps.front().missing), -count, 2.0);
    }
}

TEST_F(Gaps, FadingIsNone) {
    for (int trial = 0; trial < fewer_times(8); ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = random_config(100);
        config.antennas = 3;
        config.channel = {.kind = phy::apps::ChannelKind::tdl,
                          .delay_spread_ns = static_cast<double>(random_int(random_, 10, 100))};
        EXPECT_TRUE(receive(AirCapture(config), config.link).gaps.empty());
    }
}

/// Their strongest path may be late, so that it leaves the recording.
TEST_F(Gaps, ARecordingMayHaveOneSlot) {
    for (int trial = 0; trial < fewer_times(16); ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = random_config(1);
        config.snr_db = 25.0;
        config.antennas = 3;
        config.timing_offset = 1e-9 * random_int(random_, -200, 200);
        config.channel = {.kind = phy::apps::ChannelKind::tdl,
                          .delay_spread_ns = static_cast<double>(random_int(random_, 10, 100))};
        phy::Link link = config.link;
        link.carrier.first_sample.reset();
        const AirCapture sent(config);
        ASSERT_EQ(sent.length(), slot_samples);
        EXPECT_EQ(receive(sent, link).slots, 1U);
    }
}

}  // namespace
