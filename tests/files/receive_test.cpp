#include "phy/files/receive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "receive_cases.hpp"
#include "support/hdf5_file.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::receive_file;
using phy::ReceiveOptions;
using phy::ReceiverInput;
using phy::Reception;
using phy_test::ReceiveFile;
using phy_test::ReceiveFileOf;
using phy_test::record;
using phy_test::Recording;

TEST_P(ReceiveFileOf, GivesTheCodewords) {
    const Recording recording = record(GetParam(), 5, {.snr_db = 45.0});
    ReceiveOptions options;
    options.writes_symbols = true;
    options.writes_channel = true;
    const Reception done = receive(recording, options);
    EXPECT_EQ(done.slots, 5U);
    EXPECT_EQ(done.bit_errors, 0U);
    EXPECT_EQ(done.slot_bit_errors, std::vector<std::uint64_t>(5, 0));
    EXPECT_EQ(done.compared_bits, recording.codewords.size());
    EXPECT_EQ(done.soft_bits, recording.codewords.size());
    EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
    EXPECT_NEAR(done.mean.snr_db, 45.0, 2.0);
    EXPECT_NEAR(done.signal_seconds, 2.5e-3, 1e-9);
    ASSERT_EQ(done.reports.size(), 5U);
    EXPECT_GT(done.mean.coherence, 0.9);

    const std::vector<std::byte> llr = written("/llr");
    const phy::SoftBitView soft_bits(phy::SoftBitFormat::int8, llr);
    EXPECT_EQ(phy_test::count_errors(soft_bits, recording.codewords), 0U);
    const std::size_t symbols = recording.codewords.size() / 8;
    EXPECT_EQ(written("/symbols").size(), symbols * sizeof(phy::cf32));
    EXPECT_EQ(written("/symbols_noise_variance").size(), symbols * sizeof(float));
    EXPECT_EQ(written("/channel").size(), std::size_t{5} * 4 * 2 * 300 * sizeof(phy::cf32));
}

TEST_P(ReceiveFileOf, GivesTheSameBytesByAnyChunksAndThreads) {
    const Recording recording = record(GetParam(), 7, {.snr_db = 20.0});
    ReceiveOptions whole;
    whole.writes_symbols = true;
    receive(recording, whole);
    const std::vector<std::byte> llr = written("/llr");
    const std::vector<std::byte> symbols = written("/symbols");
    const std::vector<std::byte> slots = written("/slots");
    for (const std::size_t chunk : {1U, 3U, 100U}) {
        for (const char* const backend : {"scalar", "cpu"}) {
            const phy::Host host({.threads = 2, .backend = phy::Backend::parse(backend)});
            ReceiveOptions options;
            options.writes_symbols = true;
            options.places.emplace_back(host);
            options.pipeline.chunk = chunk;
            receive(recording, options);
            EXPECT_TRUE(written("/llr") == llr) << chunk << " " << backend;
            EXPECT_TRUE(written("/symbols") == symbols) << chunk << " " << backend;
            EXPECT_TRUE(written("/slots") == slots) << chunk << " " << backend;
        }
    }
}

TEST_P(ReceiveFileOf, NotANumberSpoilsItsSlotOnly) {
    Recording recording = record(GetParam(), 6, {.snr_db = 45.0});
    // In the fourth slot: the first ones are those that offsets are measured over, too.
    const std::size_t bad = recording.length() * 3 / 6 + recording.length() / 24;
    recording.data[bad] = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
    const Reception done = receive(recording);
    const std::size_t of_slot = recording.codewords.size() / 6;
    const std::vector<std::byte> llr = written("/llr");
    for (std::size_t slot = 0; slot < 6; ++slot) {
        const phy::SoftBitView soft_bits(phy::SoftBitFormat::int8,
                                         std::span(llr).subspan(slot * of_slot, of_slot));
        const auto begin = recording.codewords.begin() + static_cast<std::ptrdiff_t>(slot * of_slot);
        const std::size_t errors =
            phy_test::count_errors(soft_bits, {begin, begin + static_cast<std::ptrdiff_t>(of_slot)});
        if (slot == 3)
            EXPECT_GT(done.reports[slot].erasures, 0U);
        else
            EXPECT_EQ(errors, 0U) << slot;
    }
}

TEST_P(ReceiveFileOf, LinkOfTheCallerWins) {
    const Recording recording = record(GetParam(), 2, {.snr_db = 45.0});
    recording.write(capture(), "{}");
    ReceiveOptions options;
    options.link = recording.config.link;
    EXPECT_EQ(receive_file(capture(), output(), options).bit_errors, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, ReceiveFileOf, testing::Values(ReceiverInput::grid, ReceiverInput::samples),
                         [](const auto& input) {
                             return input.param == ReceiverInput::grid ? "Grid" : "Samples";
                         });

TEST_F(ReceiveFile, FindsWhereSamplesBegin) {
    Recording recording = record(ReceiverInput::samples, 4, {.snr_db = 45.0});
    recording.delay(12345);
    recording.config.link.carrier.first_sample.reset();
    const Reception done = receive(recording);
    ASSERT_TRUE(done.found.has_value());
    EXPECT_NEAR(static_cast<double>(done.found->first_sample), 12345.0, 8.0);
    EXPECT_EQ(done.slots, 4U);
    EXPECT_EQ(done.bit_errors, 0U);
}

TEST_F(ReceiveFile, OffsetsComeFromTheFirstSlotsThatHaveDmrs) {
    Recording recording = record(ReceiverInput::samples, 14, {.snr_db = 45.0});
    const std::size_t length = recording.length();
    for (std::size_t i = 0; i < recording.data.size(); ++i)
        if (i % length < length * 11 / 14) recording.data[i] *= 1e-4F;
    recording.shift(2000.0);
    std::mt19937 random(3);
    std::normal_distribution<float> noise(0.0F, 0.01F);
    for (std::size_t i = 0; i < recording.data.size(); ++i)
        if (i % length < length * 11 / 14) recording.data[i] += phy::cf32(noise(random), noise(random));
    const Reception done = receive(recording);
    EXPECT_NEAR(done.mean.frequency_offset, 2000.0, 20.0);
    const std::vector<std::byte> llr = written("/llr");
    const std::size_t of_slot = recording.codewords.size() / 14;
    const phy::SoftBitView last(phy::SoftBitFormat::int8, std::span(llr).last(3 * of_slot));
    EXPECT_EQ(
        phy_test::count_errors(last, {recording.codewords.end() - static_cast<std::ptrdiff_t>(3 * of_slot),
                                      recording.codewords.end()}),
        0U);
    ASSERT_FALSE(done.warnings.empty());
    EXPECT_NE(done.warnings[0].find("not found in 11 of 14 slots"), std::string::npos) << done.warnings[0];
}

TEST_F(ReceiveFile, ErrorsBeyondTheNoiseAreSaid) {
    const Recording recording = record(ReceiverInput::samples, 3, {.snr_db = 45.0});
    phy::Link wrong = recording.config.link;
    wrong.carrier.center_frequency = 3.456789012e9;
    recording.write(capture(), to_json(wrong));
    const Reception done = receive_file(capture(), output());
    ASSERT_FALSE(done.warnings.empty()) << done.mean.error_over_noise_db << " dB";
    const std::string& last = done.warnings.back();
    EXPECT_NE(last.find("farther from the points than noise explains"), std::string::npos) << last;
    EXPECT_NE(last.find("center_frequency"), std::string::npos) << last;
    EXPECT_GT(done.mean.error_over_noise_db, 3.0);
}

TEST_F(ReceiveFile, FewPilotsInNoiseAreReceivedWithAWarning) {
    phy::ReceiverConfig config = phy_test::recorded_config(ReceiverInput::grid);
    config.link.modulation = phy::Modulation::qpsk;
    config.link.allocation.resource_blocks = {{.first = 3, .count = 1}};
    config.link.allocation.dmrs.symbols = {2};
    config.link.allocation.dmrs.ports = {0};
    const Reception done = receive(record(config, 12, {.snr_db = -1.0, .taps = 1}));
    ASSERT_FALSE(done.warnings.empty()) << done.mean.coherence;
    EXPECT_NE(done.warnings[0].find("DM-RS"), std::string::npos) << done.warnings[0];
    EXPECT_LT(done.bit_errors, done.compared_bits / 10);
    ASSERT_EQ(done.slot_bit_errors.size(), 12U);
    EXPECT_EQ(done.bit_errors,
              std::accumulate(done.slot_bit_errors.begin(), done.slot_bit_errors.end(), std::uint64_t{0}));
    EXPECT_GT(done.bit_errors, 0U);
}

TEST_F(ReceiveFile, WritesWhatIsWantedAlone) {
    const Recording recording = record(ReceiverInput::grid, 2, {.snr_db = 45.0});
    ReceiveOptions options;
    options.writes_llr = false;
    options.writes_channel = true;
    receive(recording, options);
    EXPECT_EQ(written("/channel").size(), std::size_t{2} * 4 * 2 * 300 * sizeof(phy::cf32));
    EXPECT_ANY_THROW(static_cast<void>(written("/llr")));
}

TEST_F(ReceiveFile, TakesOffsetsOutOfSamples) {
    phy::ReceiverConfig config = phy_test::recorded_config(ReceiverInput::samples);
    config.link.allocation.dmrs.symbols = {2};
    Recording recording = record(config, 6, {.snr_db = 45.0});
    recording.delay(20);
    recording.shift(900.0);
    const Reception done = receive(recording);
    EXPECT_NEAR(done.mean.frequency_offset, 900.0, 10.0);
    EXPECT_NEAR(done.mean.timing_offset, 20.0 / *config.link.carrier.sample_rate, 4e-7);
    EXPECT_EQ(done.bit_errors, 0U);
}

TEST_F(ReceiveFile, FilesThatDoNotFitTheLinkAreNamed) {
    const Recording samples = record(ReceiverInput::samples, 1);
    const Recording grid = record(ReceiverInput::grid, 1);
    const auto error_with = [&](const Recording& recording, auto change) {
        phy::Link link = recording.config.link;
        change(link);
        recording.write(capture(), to_json(link));
        return error_of();
    };
    const auto expect = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    expect(error_with(grid, [](phy::Link& link) { link.allocation.carrier_resource_blocks = 26; }),
           "has 300 subcarriers: expected the link's 312");
    expect(error_with(samples, [](phy::Link& link) { link.carrier.first_sample = 1; }),
           "expected at least 5761");
    expect(error_with(samples, [](phy::Link& link) { link.slots = {7}; }), "none of which");
    Recording narrow = grid;
    narrow.config.antennas = 1;
    narrow.data.resize(narrow.data.size() / 4);
    expect(error_with(narrow, [](phy::Link&) {}),
           "1 antenna: expected at least as many as the link's 2 layers");
    grid.write(capture(), "");
    expect(error_of(), "has no attribute link");
    grid.write(capture(), "{\"direction\": 3}");
    expect(error_of(), "attribute link: ");
}

}  // namespace
