// Recordings by recorders with clocks of their own, that drop samples, or that begin anywhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "phy/files/receive.hpp"
#include "recorder_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"

namespace {

using phy::ClockSource;
using phy::Link;
using phy_test::AirCapture;
using phy_test::loss_db;
using phy_test::still_recording;
using Config = phy::apps::Recording::Config;
using Recorder = phy_test::Recorder;

TEST_F(Recorder, ItsClockIsFollowed) {
    const phy::Reception ideal = receive(still_recording(seed_, 80));
    EXPECT_EQ(ideal.clock.corrected, ClockSource::none);
    for (const double ppm : {25.0, -20.0, 50.0 * (unit_(random_) - 0.5)}) {
        for (const bool has_one_reference : {true, false}) {
            SCOPED_TRACE(std::to_string(ppm) + " ppm, seed " + std::to_string(seed_));
            Config config = still_recording(seed_, 80);
            config.clock.offset = 1e-6 * ppm;
            // The transmitter's oscillator makes up for the recorder's.
            if (!has_one_reference) config.frequency_offset = 1e-6 * ppm * 3.5e9;
            const phy::Reception done = receive(config);
            EXPECT_LT(loss_db(done, ideal), 0.1);
            EXPECT_EQ(done.slots, config.slots);
            EXPECT_EQ(done.bit_errors, ideal.bit_errors);
            EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
            EXPECT_TRUE(done.gaps.empty());
            // Timing has a resolution of a sample.
            const double error = done.clock.corrected == ClockSource::frequency ? 0.3 : 3.0;
            EXPECT_NEAR(done.clock.last.value() * 1e6, ppm, error);
            // Interpolation between DM-RS follows slow clocks.
            EXPECT_TRUE(std::fabs(ppm) < 8.0 || done.clock.corrected != ClockSource::none);
        }
    }
}

TEST_F(Recorder, ItsClockMayDrift) {
    Config config = still_recording(seed_, 2000);
    config.link.slots = {3};
    const phy::Reception ideal = receive(config);
    config.clock = {.offset = 8e-6 * (unit_(random_) - 0.5), .drift = 4e-7};
    const phy::Reception done = receive(config);
    SCOPED_TRACE("seed " + std::to_string(seed_));
    EXPECT_LT(loss_db(done, ideal), 0.1);
    EXPECT_EQ(done.slots, ideal.slots);
    EXPECT_EQ(done.bit_errors, ideal.bit_errors);
    EXPECT_NEAR((done.clock.last.value() - done.clock.first.value()) * 1e6, 0.4, 0.1);
}

TEST_F(Recorder, BytesDoNotDependOnChunks) {
    Config config = still_recording(seed_, 100);
    config.clock.offset = 2e-5;
    AirCapture(config).write(capture_, config.link);
    const auto symbols = [&](std::size_t chunk) {
        phy::ReceiveOptions options;
        options.pipeline.chunk = chunk;
        std::vector<double> sums;
        for (const phy::SlotReport& report : phy::receive_file(capture_, {}, options).reports)
            sums.push_back(report.evm);
        return sums;
    };
    EXPECT_EQ(symbols(1), symbols(33));
}

TEST_F(Recorder, DroppedSamplesAreFound) {
    for (const std::uint64_t count :
         {std::uint64_t{777}, std::uint64_t{5}, std::uint64_t{random_() % 110'000 + 100}}) {
        Config config = still_recording(seed_, 300);
        config.clock.offset = 3e-6;
        const std::uint64_t first = 400'000 + random_() % 800'000;
        config.gaps = {{.first = first, .count = count}};
        SCOPED_TRACE(std::to_string(count) + " after " + std::to_string(first) + ", seed " +
                     std::to_string(seed_));
        const phy::Reception done = receive(config);
        EXPECT_EQ(done.slots, config.slots);
        const double slot = 5760.0;
        if (count == 5) {
            EXPECT_LT(done.bit_errors.value(), done.soft_bits / done.slots / 2);
            continue;
        }
        ASSERT_EQ(done.gaps.size(), 1U);
        EXPECT_NEAR(static_cast<double>(done.gaps[0].missing), static_cast<double>(count), 2.0);
        EXPECT_NEAR(static_cast<double>(done.gaps[0].sample), static_cast<double>(first), 2.0 * slot);
        EXPECT_LE(done.gaps[0].lost_slots,
                  static_cast<std::uint64_t>(std::ceil(static_cast<double>(count) / slot)) + 1);
        std::uint64_t damaged = 0;
        for (const phy::SlotReport& report : done.reports)
            damaged += !(report.evm < 0.03);
        EXPECT_EQ(damaged, done.gaps[0].lost_slots);
        EXPECT_EQ(done.warnings.size(), 1U) << done.warnings.back();
    }
}

TEST_F(Recorder, OffsetsOfThreeSubcarriersAreFound) {
    const phy::Reception ideal = receive(still_recording(seed_, 8));
    for (const double hertz : {40e3, -70e3, 180e3 * (unit_(random_) - 0.5)}) {
        for (const bool is_searched : {false, true}) {
            SCOPED_TRACE(std::to_string(hertz) + " Hz, seed " + std::to_string(seed_));
            Config config = still_recording(seed_, 8);
            config.frequency_offset = hertz;
            config.first_sample = is_searched ? 5'000 : 0;
            Link link = config.link;
            config.link.carrier.first_sample = config.first_sample;
            if (is_searched) link.carrier.first_sample.reset();
            const phy::Reception done = receive(config, link);
            EXPECT_NEAR(done.mean.frequency_offset, hertz, 20.0);
            EXPECT_LT(loss_db(done, ideal), 0.1);
            EXPECT_EQ(done.bit_errors, 0U);
            EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
            phy::ReceiveOptions options;
            options.diagnoses = true;
            const phy::Reception diagnosed = phy::receive_file(capture_, {}, options);
            EXPECT_NE(diagnosed.diagnosis.find("the best is the link as it is"), std::string::npos)
                << diagnosed.diagnosis;
            EXPECT_TRUE(diagnosed.warnings.empty()) << diagnosed.warnings.front();
        }
    }
}

/// Low-PAPR sequences that are some subcarriers off look like sequences that are late.
TEST_F(Recorder, OffsetsOfPrecodedSignalsAreFound) {
    for (int trial = 0; trial < phy_test::fewer_times(12); ++trial) {
        Config config = phy_test::precoded_recording(random_, phy_test::random_int(random_, 12, 30));
        const double spacing = config.link.carrier.subcarrier_spacing;
        config.kind = phy::CaptureKind::samples;
        config.link.allocation.carrier_resource_blocks = 52;
        config.link.carrier.sample_rate = 768 * spacing;
        config.link.allocation.resource_blocks = {
            {.first = 0, .count = std::vector{10, 12, 24, 36, 50}[random_() % 5]}};
        config.link.modulation = phy::Modulation::qpsk;
        config.antennas = 4;
        config.frequency_offset = 5.6 * spacing * (unit_(random_) - 0.5);
        SCOPED_TRACE(std::to_string(config.frequency_offset) + " Hz, trial " + std::to_string(trial) +
                     ", seed " + std::to_string(seed_) + ": " + to_json(config.link));
        const phy::Reception done = receive(config);
        EXPECT_NEAR(done.mean.frequency_offset, config.frequency_offset, 0.05 * spacing);
        EXPECT_LT(static_cast<double>(done.bit_errors.value()), 0.01 * static_cast<double>(done.soft_bits));
    }
}

/// Most slots that a diagnosis looks at are idle.
TEST_F(Recorder, OffsetsOfFewSlotsAreNoMistakes) {
    for (int trial = 0; trial < 6; ++trial) {
        Config config = still_recording(seed_ + static_cast<std::uint32_t>(trial), 40);
        config.link.slots = trial % 2 == 0 ? std::vector<int>{4} : std::vector<int>{4, 5, 14, 15};
        config.frequency_offset = 15e3 * (unit_(random_) - 0.5);
        SCOPED_TRACE(std::to_string(config.frequency_offset) + " Hz, trial " + std::to_string(trial) +
                     ", seed " + std::to_string(seed_));
        AirCapture(config).write(capture_, config.link);
        phy::ReceiveOptions options;
        options.diagnoses = true;
        const phy::Reception done = phy::receive_file(capture_, {}, options);
        EXPECT_NE(done.diagnosis.find("the best is the link as it is"), std::string::npos) << done.diagnosis;
        EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
    }
}

TEST_F(Recorder, ALineAndAnImageAreTakenOut) {
    for (int trial = 0; trial < 4; ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = still_recording(seed_, 60);
        if (trial == 3) config.link.carrier.sample_rate = 20e6;
        config.antennas = 2;
        config.snr_db = 27.0;
        const phy::Reception ideal = receive(config);
        EXPECT_TRUE(ideal.impairments.empty());
        if (trial != 1) config.line_db = -25.0 + 25.0 * unit_(random_);
        if (trial != 0) config.image_db = -30.0 + 15.0 * unit_(random_);
        const phy::Reception done = receive(config);
        // Chance: the data at frequency 0 have a mean too.
        EXPECT_LT(loss_db(done, ideal), 0.2);
        EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
        ASSERT_EQ(done.impairments.size(), 2U);
        // Chance: the squares of the data have a mean too, 0.0014 of their power in a recording of this
        // length.
        const double image = config.image_db ? std::pow(10.0, *config.image_db / 20.0) : 0.0;
        for (const phy::Impairment& impairment : done.impairments)
            EXPECT_NEAR(std::abs(impairment.image), image, config.image_db ? 0.006 : 0.0);
    }
}

/// Prefixes leave 18 Hz of this offset. Following them is worth more than what a clock costs that comes with
/// it.
TEST_F(Recorder, AFrequencyOffsetIsNoClock) {
    Config config = still_recording(1126284890, 20);
    config.snr_db = 27.0;
    config.link.allocation.dmrs.symbols = {2};
    config.frequency_offset = 11845.175746;
    config.first_sample = 5'000;
    Link link = config.link;
    link.carrier.first_sample.reset();
    config.link.carrier.first_sample = config.first_sample;
    const phy::Reception ideal = receive(config, link);
    config.line_db = -10.0;
    const phy::Reception done = receive(config, link);
    EXPECT_EQ(done.clock.corrected, ClockSource::none);
    EXPECT_LT(loss_db(done, ideal), 0.1);
}

TEST_F(Recorder, ALineMayBeStrongerThanTheSignal) {
    for (int trial = 0; trial < 6; ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = still_recording(seed_, 20);
        config.snr_db = 27.0;
        if (trial % 2 == 1) config.link.allocation.dmrs.symbols = {2};
        if (trial == 4) config.link.carrier.sample_rate = 20e6;
        config.frequency_offset = trial == 0 ? 0.0 : 27e3 * (unit_(random_) - 0.5);
        Link link = config.link;
        if (trial != 2) link.carrier.first_sample.reset();
        if (trial != 2) config.first_sample = 5'000;
        config.link.carrier.first_sample = config.first_sample;
        const phy::Reception ideal = receive(config, link);
        config.line_db = trial == 1 ? -10.0 : 2.0 + 28.0 * unit_(random_);
        const phy::Reception done = receive(config, link);
        EXPECT_LT(loss_db(done, ideal), 0.2);
        EXPECT_NEAR(done.mean.frequency_offset, config.frequency_offset, 30.0);
        EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
        ASSERT_EQ(done.impairments.size(), 1U);
        EXPECT_GT(std::norm(done.impairments[0].line), 0.0F);
    }
}

TEST_F(Recorder, RecordingsMayBeginAnywhere) {
    for (int trial = 0; trial < 6; ++trial) {
        Config config = still_recording(seed_ + static_cast<std::uint32_t>(trial), 30);
        config.timing_offset = 0.0;
        config.link.slots = trial % 2 == 0 ? std::vector<int>{} : std::vector<int>{1, 4, 5, 9, 16};
        const std::uint64_t kept = trial < 3 ? 150'000 : 5 * 5'760 + 1'000;
        // Whether a slot counts that lacks a few samples is the receiver's choice.
        const auto is_at_boundary = [](std::uint64_t sample) { return (sample + 8) % 5'760 < 16; };
        std::uint64_t cut = 0;
        do
            cut = random_() % 40'000;
        while (is_at_boundary(cut) || is_at_boundary(cut + kept));
        SCOPED_TRACE("cut " + std::to_string(cut) + ", kept " + std::to_string(kept) + ", seed " +
                     std::to_string(seed_));
        AirCapture sent(config);
        const std::size_t length = sent.length();
        const std::size_t end = std::min<std::size_t>(length, cut + kept);
        std::vector<phy::cf32> data;
        for (std::size_t antenna = 0; antenna < 1; ++antenna)
            data.insert(data.end(), sent.data.begin() + static_cast<std::ptrdiff_t>(antenna * length + cut),
                        sent.data.begin() + static_cast<std::ptrdiff_t>(antenna * length + end));
        std::uint64_t whole = 0;
        for (std::uint64_t slot = 0; slot < config.slots; ++slot) {
            // Of 11.52 Msps: each 0.5 ms has 5,760 samples.
            const bool is_used = config.link.slots.empty() ||
                                 std::ranges::count(config.link.slots, static_cast<int>(slot % 20)) > 0;
            whole += static_cast<std::uint64_t>(is_used && slot * 5'760 >= cut && (slot + 1) * 5'760 <= end);
        }
        if (whole == 0) continue;
        sent.data = data;
        Link link = config.link;
        link.carrier.first_sample.reset();
        sent.write(capture_, link);
        const phy::Reception done = phy::receive_file(capture_, {}, {});
        EXPECT_EQ(done.slots, whole);
        EXPECT_LT(done.mean.evm, 0.03);
        for (const phy::SlotReport& report : done.reports)
            EXPECT_LT(report.evm, 0.03) << report.slot;
    }
}

}  // namespace
