// Recordings whose antennas lie in several files, have gains of their own, or no signal.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "phy/core/error.hpp"
#include "phy/files/receive.hpp"
#include "recorder_cases.hpp"
#include "support/fewer_cases.hpp"

namespace {

using phy_test::AirCapture;
using phy_test::loss_db;
using phy_test::still_recording;
using phy_test::takes_fewer_cases;
using Config = phy::apps::Recording::Config;
using Recorder = phy_test::Recorder;

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

phy::Reception receive_apart(const std::vector<std::filesystem::path>& files,
                             std::optional<bool> rejects_interference = {}) {
    phy::ReceiveOptions options;
    options.interference_rejection = rejects_interference;
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
    // The offsets differ as little, which flips a bit at the edge now and then.
    EXPECT_NEAR(static_cast<double>(apart.bit_errors.value()),
                static_cast<double>(together.bit_errors.value()), 2.0)
        << "seed " << seed_;

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

TEST_F(Recorder, AFileThatIsShorterThanASlotIsNamed) {
    Config config = still_recording(seed_, 8);
    config.antennas = 2;
    const AirCapture sent(config);
    for (const std::size_t kept : {std::size_t{1}, std::size_t{1} + random_() % 5'758}) {
        const auto files =
            write_apart(sent, {{}, {.lacks_behind = sent.length() - kept}}, capture_.parent_path());
        try {
            receive_apart(files);
            FAIL() << "no error, " << kept << " samples, seed " << seed_;
        } catch (const phy::FileError& error) {
            EXPECT_TRUE(std::string(error.what())
                            .starts_with(files[1].string() + " has " + std::to_string(kept) + " samples"))
                << error.what();
        }
    }
}

/// By 6 dB at least; antennas without a signal do not count.
bool differ(const std::vector<Part>& parts) {
    float least = std::numeric_limits<float>::max();
    float most = 0.0F;
    for (const Part& part : parts) {
        if (part.gain == 0.0F) continue;
        least = std::min(least, part.gain);
        most = std::max(most, part.gain);
    }
    return most > 2.0F * least;
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
        // Antennas with gains of -20 to 20 dB, of which two differ clearly.
        const std::vector<Part> equal = parts;
        do {
            parts = equal;
            for (Part& part : parts)
                part.gain *= static_cast<float>(std::pow(10.0, 2.0 * unit_(random_) - 1.0));
        } while (!differ(parts));
        const auto files = write_apart(sent, parts, capture_.parent_path());
        const phy::Reception rejecting = receive_apart(files);
        const phy::Reception done = receive_apart(files, false);
        for (const phy::Reception* each : {&rejecting, &done}) {
            EXPECT_LT(loss_db(*each, ideal), 0.1);
            EXPECT_LE(*each->bit_errors, 1.1 * static_cast<double>(*ideal.bit_errors) + 20.0);
            EXPECT_EQ(each->warnings.empty(), ideal.warnings.empty());
        }
        EXPECT_TRUE(rejecting.impairments.empty());
        std::erase_if(parts, [](const Part& part) { return part.gain == 0.0F; });
        ASSERT_EQ(done.impairments.size(), parts.size());
        for (std::size_t antenna = 0; antenna < parts.size(); ++antenna)
            EXPECT_NEAR(done.impairments[antenna].gain * parts[0].gain / parts[antenna].gain, 1.0, 0.2);
    }
}

/// The antenna without a cable has samples of 0, or noise that is weaker than that of the others.
TEST_F(Recorder, AnAntennaWithoutACableIsNamed) {
    for (int trial = 0; trial < 12; ++trial) {
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
        phy::ReceiveOptions options;
        if (trial % 8 < 4) options.interference_rejection = false;
        others.write(capture_, config.link);
        const phy::Reception ideal = phy::receive_file(capture_, {}, options);
        EXPECT_TRUE(ideal.warnings.empty()) << ideal.warnings.front();

        const bool has_noise = trial < 8;
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
        const phy::Reception done = phy::receive_file(capture_, {}, options);
        ASSERT_FALSE(done.warnings.empty());
        const std::string& text = done.warnings.back();
        EXPECT_NE(text.find("antenna " + std::to_string(dead + 1) + " of 3 has "), std::string::npos) << text;
        EXPECT_EQ(text.find("left out") != std::string::npos, !has_noise);
        EXPECT_LT(loss_db(done, ideal), 0.1);
        const bool is_mean = is_grid && has_noise && options.interference_rejection.has_value();
        EXPECT_EQ(text.find("soft bits are too large") != std::string::npos, is_mean);
        EXPECT_TRUE(is_mean || done.warnings.size() == 1);
        EXPECT_NEAR(done.mean.error_over_noise_db, ideal.mean.error_over_noise_db, is_mean ? 2.2 : 0.2);
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

/// One antenna has the sum of two layers, the other one their difference: only DM-RS correlate, at several
/// delays.
TEST_F(Recorder, AFileWithADoubtfulDelayIsNamed) {
    Config config = still_recording(seed_, 20);
    config.link.allocation.dmrs.ports = {0, 1};
    config.antennas = 2;
    AirCapture sent(config);
    for (std::size_t i = 0; i < sent.length(); ++i) {
        phy::cf32& a = sent.data[i];
        phy::cf32& b = sent.data[sent.length() + i];
        a += b;
        b = a - 2.0F * b;
    }
    const auto files = write_apart(sent, {{}, {.lacks_before = 1'000}}, capture_.parent_path());
    const phy::Reception done = receive_apart(files);
    ASSERT_FALSE(done.warnings.empty());
    EXPECT_TRUE(done.warnings.front().starts_with(
        files[1].string() + ": its samples correlate with those of the other files at several delays"))
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

/// Few resource blocks with one DM-RS symbol and ports of several CDM groups may look clearer two subcarriers
/// off: that is said.
TEST_F(Recorder, AnySlotIsFoundInCutRecordings) {
    const int trials = takes_fewer_cases() ? 1 : 3;
    int found = 0;
    for (int trial = 0; trial < trials; ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        Config config = recording_of_antennas(random_, 1);
        const phy::Reception ideal = receive(config);
        config.link.carrier.first_sample.reset();
        const AirCapture sent(config);
        const Part part = {.antennas = static_cast<std::size_t>(config.antennas),
                           .lacks_before = random_() % (sent.length() / 3)};
        const auto files = write_apart(sent, {part}, capture_.parent_path());
        const phy::Reception done = phy::receive_file(files.front(), {}, {});
        // The slots that are left fade otherwise; a slot beside the right one loses more.
        const bool is_found = 3 * done.slots >= 2 * ideal.slots - 6 && loss_db(done, ideal) < 3.0;
        EXPECT_TRUE(is_found ||
                    done.warnings.back().find("no cyclic prefixes are where") != std::string::npos)
            << done.slots << " of " << ideal.slots << " slots, EVM " << done.mean.evm << ", ideal "
            << ideal.mean.evm;
        found += is_found ? 1 : 0;
    }
    EXPECT_GE(found, trials - 1) << "seed " << seed_;
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
        const bool is_either = last <= prefix / 4 || last > 2 * prefix;
        EXPECT_TRUE(!is_either || done.skipped.empty() == (last <= prefix / 4));
        if (says_begin) {
            const double bits = static_cast<double>(done.compared_bits);
            EXPECT_GT(3.0 * bits, static_cast<double>(ideal.compared_bits));
            EXPECT_LT(
                static_cast<double>(done.bit_errors.value()) / bits,
                static_cast<double>(ideal.bit_errors.value()) / static_cast<double>(ideal.compared_bits) +
                    0.05);
            const phy::LinkCarrier& carrier = done.link.carrier;
            const double late = static_cast<double>(*carrier.first_sample) / rate * 100.0;
            const int slots = phy::slots_per_frame(carrier);
            EXPECT_EQ((config.link.carrier.first_slot + std::llround(late * slots)) % slots,
                      carrier.first_slot);
        }
        for (std::size_t i = 0; i < done.skipped.size(); ++i)
            EXPECT_NEAR(static_cast<double>(done.skipped[i] + parts[i].lacks_before),
                        static_cast<double>(done.skipped[0] + parts[0].lacks_before),
                        static_cast<double>(prefix) / 2.0);
    }
}

/// The covariance of so little noise is a difference of large sums.
TEST_F(Recorder, NoiseOfAnySnrHasACovarianceThatServes) {
    phy::ReceiveOptions with_n0;
    with_n0.interference_rejection = false;
    for (int trial = 0; trial < (takes_fewer_cases() ? 4 : 16); ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed_));
        const double snr_db = std::uniform_real_distribution<double>(45.0, 80.0)(random_);
        Config config;
        do
            config = phy_test::random_recording(random_, snr_db);
        while (config.antennas < 2);
        const AirCapture sent(config);
        sent.write(capture_, config.link);
        const phy::Reception done = phy::receive_file(capture_, {}, {});
        const phy::Reception plain = phy::receive_file(capture_, {}, with_n0);
        // An EVM that no modulation notices is of errors that are not noise; their covariance serves less.
        const double most = done.mean.evm < 0.005 ? 3.0 : 1.0;
        EXPECT_LT(loss_db(done, plain), most) << snr_db << " dB, EVM " << done.mean.evm;
        for (std::size_t i = 0; i < plain.reports.size(); ++i)
            EXPECT_EQ(done.reports[i].erasures, plain.reports[i].erasures) << snr_db << " dB, slot " << i;
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

}  // namespace
