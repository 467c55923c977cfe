// Recordings by recorders with clocks of their own, that drop samples, or that begin anywhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "phy/core/error.hpp"
#include "phy/files/receive.hpp"
#include "support/fewer_cases.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::ClockSource;
using phy::Link;
using phy_test::AirCapture;
using phy_test::takes_fewer_cases;
using Config = phy::apps::Recording::Config;

class Recorder : public testing::Test {
protected:
    phy::Reception receive(const Config& config, const Link& link) {
        AirCapture(config).write(capture_, link);
        return phy::receive_file(capture_, {}, {});
    }
    phy::Reception receive(const Config& config) { return receive(config, config.link); }

    phy_test::TemporaryDirectory folder_;
    const std::filesystem::path capture_ = folder_ / "capture.h5";
    std::uint32_t seed_ = std::random_device()();
    std::mt19937 random_{seed_};
    std::uniform_real_distribution<double> unit_{0.0, 1.0};
};

/// 24 resource blocks at 30 kHz in 11.52 Msps, 64QAM, without fading: what differs is the recorder's doing.
Config still_recording(std::uint64_t seed, std::uint64_t slots) {
    Config config = phy_test::plain_recording();
    config.channel = {};
    config.antennas = 1;
    config.snr_db = 36.0;
    config.slots = slots;
    config.seed = seed;
    config.frequency_offset = 0.0;
    return config;
}

double loss_db(const phy::Reception& done, const phy::Reception& ideal) {
    return 20.0 * std::log10(done.mean.evm / ideal.mean.evm);
}

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
            EXPECT_TRUE(std::fabs(ppm) < 3.0 || done.clock.corrected != ClockSource::none);
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
        for (const phy::Impairment& impairment : done.impairments)
            EXPECT_TRUE(!config.image_db ||
                        std::abs(10.0F * std::log10(std::norm(impairment.image)) - *config.image_db) < 1.0);
    }
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

/// Antennas in a file of their own, what it lacks, and its amplitude.
struct Part {
    std::size_t antennas = 1;
    std::size_t lacks_before = 0;
    std::size_t lacks_behind = 0;
    float gain = 1.0F;
};

/// Writes antennas to several files.
std::vector<std::filesystem::path> write_apart(const AirCapture& sent, const std::vector<Part>& parts,
                                               const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::size_t antenna = 0;
    for (const Part& part : parts) {
        AirCapture alone = sent;
        alone.sent.antennas = static_cast<int>(part.antennas);
        alone.data.clear();
        for (const std::size_t end = antenna + part.antennas; antenna < end; ++antenna)
            for (std::size_t i = part.lacks_before; i + part.lacks_behind < sent.length(); ++i)
                alone.data.push_back(part.gain * sent.data[antenna * sent.length() + i]);
        files.push_back(folder / ("antenna" + std::to_string(antenna) + ".h5"));
        alone.write(files.back(), sent.sent.link);
    }
    return files;
}

phy::Reception receive_apart(const std::vector<std::filesystem::path>& files) {
    phy::ReceiveOptions options;
    options.capture.more_antennas.assign(files.begin() + 1, files.end());
    return phy::receive_file(files.front(), {}, options);
}

TEST_F(Recorder, AntennasMayLieInFilesOfTheirOwn) {
    Config config = still_recording(seed_, 8);
    config.antennas = 3;
    config.snr_db = 20.0;
    const phy::Reception together = receive(config);
    const auto files = write_apart(AirCapture(config), {{}, {.lacks_behind = 1}, {.lacks_behind = 2}},
                                   capture_.parent_path());
    const phy::Reception apart = receive_apart(files);
    EXPECT_EQ(apart.capture.antennas, 3U);
    EXPECT_TRUE(apart.warnings.empty()) << apart.warnings.front();
    // Two samples shorter: the last slot lacks the end of its last symbol, which no FFT takes.
    EXPECT_NEAR(apart.mean.evm, together.mean.evm, 1e-4);
    EXPECT_EQ(apart.bit_errors, together.bit_errors);

    const auto unequal = write_apart(AirCapture(config), {{}, {.lacks_behind = 5'760}, {.lacks_behind = 1}},
                                     capture_.parent_path());
    const phy::Reception cut = receive_apart(unequal);
    ASSERT_EQ(cut.warnings.size(), 2U);
    EXPECT_EQ(cut.warnings[0], unequal[0].string() + ": the last 5760 samples per antenna are left out: " +
                                   unequal[1].string() + " ends before them");

    phy::ReceiveOptions options;
    options.capture.kind = phy::CaptureKind::symbols;
    EXPECT_THROW(phy::receive_file(files[0], {}, options), phy::FileError);
    options.capture.kind.reset();
    Config other = still_recording(seed_, 8);
    other.kind = phy::CaptureKind::grid;
    AirCapture(other).write(capture_, other.link);
    options.capture.more_antennas = {capture_};
    EXPECT_THROW(phy::receive_file(files[0], {}, options), phy::FileError);
    options.capture.more_antennas = {capture_.parent_path() / "none.h5"};
    EXPECT_THROW(phy::receive_file(files[0], {}, options), phy::FileError);
}

TEST_F(Recorder, AntennasMayHaveGainsOfTheirOwn) {
    for (int trial = 0; trial < 6; ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = still_recording(seed_ + static_cast<std::uint32_t>(trial), 30);
        if (trial >= 2) config.channel = phy_test::plain_recording().channel;
        if (trial % 2 == 1) config.link.allocation.dmrs.ports = {0, 1};
        if (trial == 4) config.link.carrier.sample_rate = 20e6;
        config.antennas = 4;
        config.snr_db = 27.0;
        std::vector<Part> parts(4);
        if (trial == 5) parts[random_() % 4].gain = 0.0F;
        const AirCapture sent(config);
        const phy::Reception ideal = receive_apart(write_apart(sent, parts, capture_.parent_path()));
        EXPECT_TRUE(ideal.impairments.empty());
        // Antennas with gains of -20 to 20 dB.
        for (Part& part : parts)
            part.gain *= static_cast<float>(std::pow(10.0, 2.0 * unit_(random_) - 1.0));
        const phy::Reception done = receive_apart(write_apart(sent, parts, capture_.parent_path()));
        EXPECT_LT(loss_db(done, ideal), 0.1);
        EXPECT_LE(*done.bit_errors, 1.1 * static_cast<double>(*ideal.bit_errors) + 20.0);
        EXPECT_EQ(done.warnings.empty(), ideal.warnings.empty());
        std::erase_if(parts, [](const Part& part) { return part.gain == 0.0F; });
        ASSERT_EQ(done.impairments.size(), parts.size());
        for (std::size_t antenna = 0; antenna < parts.size(); ++antenna)
            EXPECT_NEAR(done.impairments[antenna].gain * parts[0].gain / parts[antenna].gain, 1.0, 0.2);
    }
}

/// The antenna without a cable has samples of 0, or noise that is weaker than that of the others.
TEST_F(Recorder, AnAntennaWithoutACableIsNamed) {
    for (int trial = 0; trial < 8; ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = still_recording(seed_, 30);
        const bool is_grid = trial % 4 == 3;
        if (is_grid) config.kind = phy::CaptureKind::grid;
        if (trial % 4 == 2) config.link.carrier.sample_rate = 20e6;
        config.snr_db = 22.0 + 13.0 * unit_(random_);
        config.antennas = 3;
        AirCapture sent(config);
        const std::size_t length = sent.length();
        const std::size_t dead = random_() % 3;
        AirCapture others = sent;
        others.sent.antennas = 2;
        others.data.erase(others.data.begin() + static_cast<std::ptrdiff_t>(dead * length),
                          others.data.begin() + static_cast<std::ptrdiff_t>((dead + 1) * length));
        others.write(capture_, config.link);
        const phy::Reception ideal = phy::receive_file(capture_, {}, {});
        EXPECT_TRUE(ideal.warnings.empty()) << ideal.warnings.front();

        const bool has_noise = trial < 4;
        double power = 0.0;
        for (const phy::cf32 sample : others.data)
            power += std::norm(std::complex<double>(sample)) / static_cast<double>(others.data.size());
        const double less_db = config.snr_db + 12.0 + 30.0 * unit_(random_);
        const double deviation = has_noise ? std::sqrt(0.5 * power * std::pow(10.0, -less_db / 10.0)) : 0.0;
        std::normal_distribution<double> noise(0.0, 1.0);
        for (std::size_t i = dead * length; i < (dead + 1) * length; ++i)
            sent.data[i] =
                phy::cf32(std::complex<double>(deviation * noise(random_), deviation * noise(random_)));
        sent.write(capture_, config.link);
        const phy::Reception done = phy::receive_file(capture_, {}, {});
        ASSERT_FALSE(done.warnings.empty());
        const std::string& text = done.warnings.back();
        EXPECT_NE(text.find("antenna " + std::to_string(dead + 1) + " of 3 has "), std::string::npos) << text;
        EXPECT_EQ(text.find("left out") != std::string::npos, !has_noise);
        EXPECT_LT(loss_db(done, ideal), 0.1);
        const bool is_mean = is_grid && has_noise;
        EXPECT_EQ(text.find("soft bits are too large") != std::string::npos, is_mean);
        EXPECT_TRUE(is_mean || done.warnings.size() == 1);
        EXPECT_NEAR(done.mean.error_over_noise_db, ideal.mean.error_over_noise_db, is_mean ? 2.2 : 0.1);
    }
}

TEST_F(Recorder, SamplesOfFilesCanBeSkipped) {
    Config config = still_recording(seed_, 2);
    config.antennas = 3;
    const AirCapture sent(config);
    const auto files = write_apart(sent, {{.antennas = 2}, {.lacks_behind = 4}}, capture_.parent_path());
    phy::CaptureOptions options = {.more_antennas = {files[1]}, .skip = {7, 5}};
    phy::CaptureReader reader(files[0], options);
    EXPECT_EQ(reader.description().lengths,
              (std::vector<std::uint64_t>{sent.length() - 7, sent.length() - 9}));
    ASSERT_EQ(reader.description().symbols, 3 * (sent.length() - 9));
    std::vector<phy::cf32> samples(reader.description().symbols);
    reader.read(0, phy::SymbolSpan(samples));
    const std::size_t length = sent.length() - 9;
    for (std::size_t antenna = 0; antenna < 3; ++antenna)
        for (const std::size_t i : {std::size_t{0}, length / 2, length - 1})
            EXPECT_EQ(samples[antenna * length + i],
                      sent.data[antenna * sent.length() + i + (antenna < 2 ? 7 : 5)]);

    options.skip = {7};
    EXPECT_THROW(phy::CaptureReader(files[0], options), phy::ArgumentError);
    options.skip = {sent.length(), 0};
    EXPECT_THROW(phy::CaptureReader(files[0], options), phy::FileError);
    EXPECT_THROW(phy::CaptureReader(files[0], {.kind = phy::CaptureKind::symbols, .skip = {1}}),
                 phy::ArgumentError);
}

TEST_F(Recorder, AFileWithoutSignalIsNamed) {
    Config config = still_recording(seed_, 20);
    config.antennas = 3;
    config.snr_db = 20.0;
    const AirCapture sent(config);
    const auto files =
        write_apart(sent, {{}, {.gain = 0.0F}, {.lacks_before = 3'000}}, capture_.parent_path());
    const phy::Reception done = receive_apart(files);
    EXPECT_EQ(done.skipped, (std::vector<std::uint64_t>{3'000, 3'000, 0}));
    ASSERT_FALSE(done.warnings.empty());
    EXPECT_TRUE(done.warnings.front().starts_with(files[1].string() + ": its samples do not correlate"))
        << done.warnings.front();
}

/// A random link and channel on antennas.
Config recording_of_antennas(std::mt19937& random, int antennas) {
    Config config;
    do
        config = phy_test::random_recording(random, 25.0);
    while (config.antennas < antennas || config.kind != phy::CaptureKind::samples);
    config.slots = 40;
    return config;
}

TEST_F(Recorder, AnySlotIsFoundInCutRecordings) {
    for (int trial = 0; trial < (takes_fewer_cases() ? 1 : 3); ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = recording_of_antennas(random_, 1);
        const phy::Reception ideal = receive(config);
        config.link.carrier.first_sample.reset();
        const AirCapture sent(config);
        const Part part = {.antennas = static_cast<std::size_t>(config.antennas),
                           .lacks_before = random_() % (sent.length() / 3)};
        const auto files = write_apart(sent, {part}, capture_.parent_path());
        const phy::Reception done = phy::receive_file(files.front(), {}, {});
        EXPECT_GE(3 * done.slots, 2 * ideal.slots - 6);
        EXPECT_LT(loss_db(done, ideal), 1.5) << ideal.mean.evm << " " << done.mean.evm;
    }
}

TEST_F(Recorder, FilesMayBeginApart) {
    for (int trial = 0; trial < (takes_fewer_cases() ? 2 : 4); ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        const bool says_begin = trial != 3;
        Config config = says_begin ? recording_of_antennas(random_, 2) : phy_test::plain_recording();
        config.slots = 40;
        const double rate = *config.link.carrier.sample_rate;
        const auto prefix = static_cast<std::size_t>(0.0703 * rate / config.link.carrier.subcarrier_spacing);
        if (!says_begin) config.link.carrier.first_sample.reset();
        const AirCapture sent(config);
        const auto most = std::min(static_cast<std::size_t>(0.0049 * rate), sent.length() / 3);
        std::vector<Part> parts(static_cast<std::size_t>(config.antennas));
        for (Part& part : parts)
            part.lacks_before = random_() % (trial == 0 ? prefix / 4 : most);
        if (says_begin) parts.front().lacks_before = 0;
        const std::size_t last = std::ranges::max(parts, {}, &Part::lacks_before).lacks_before;
        const std::vector<Part> together(parts.size(), {.lacks_before = says_begin ? 0 : last});
        const phy::Reception ideal = receive_apart(write_apart(sent, together, capture_.parent_path()));
        EXPECT_TRUE(ideal.skipped.empty());
        const phy::Reception done = receive_apart(write_apart(sent, parts, capture_.parent_path()));
        // Files are aligned to a part of the channel's spread.
        EXPECT_LT(loss_db(done, ideal), 1.5) << ideal.mean.evm << " " << done.mean.evm;
        EXPECT_EQ(done.skipped.empty(), last <= prefix / 4);
        for (std::size_t i = 0; i < done.skipped.size(); ++i)
            EXPECT_NEAR(static_cast<double>(done.skipped[i] + parts[i].lacks_before),
                        static_cast<double>(done.skipped[0] + parts[0].lacks_before),
                        static_cast<double>(prefix) / 2.0);
    }
}

TEST_F(Recorder, SamplesThatAreNoNumbersShowNoGains) {
    Config config = still_recording(seed_, 20);
    config.antennas = 2;
    AirCapture sent(config);
    // In every DM-RS symbol 2 of the slots that measure noise.
    for (std::size_t slot = 0; slot < 8; ++slot)
        sent.data[5'760 * slot + 2 * 412 + 200] = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
    sent.write(capture_, config.link);
    const phy::Reception done = phy::receive_file(capture_, {}, {});
    EXPECT_EQ(done.slots, 20U);
    EXPECT_TRUE(done.impairments.empty());
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
