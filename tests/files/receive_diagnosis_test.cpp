#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "phy/files/receive.hpp"
#include "receive_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using phy::receive_file;
using phy::ReceiveOptions;
using phy::ReceiverInput;
using phy::Reception;
using phy_test::ReceiveFile;
using phy_test::ReceiveFileOf;
using phy_test::record;
using phy_test::Recording;

/// What offsets are measured from, and everything else, is as without the sample.
TEST_F(ReceiveFile, AStrongSampleOrBurstSpoilsItsSlotOnly) {
    constexpr std::size_t slots = 12;
    phy::ReceiverConfig config = phy_test::recorded_config(ReceiverInput::samples);
    config.antennas = 1;
    config.link.modulation = phy::Modulation::qam16;
    config.link.carrier.subcarrier_spacing = 15000;
    phy_test::give_samples(config.link);
    config.link.allocation.resource_blocks = {{.first = 3, .count = 4}};
    config.link.allocation.dmrs.ports = {0};
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto uniform = [&](double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(random);
    };
    for (int trial = 0; trial < 16; ++trial) {
        const bool has_one_dmrs = trial % 2 == 0;
        config.link.allocation.dmrs.symbols = has_one_dmrs ? std::vector{2} : std::vector{2, 11};
        Recording recording = record(config, slots,
                                     {.snr_db = 35.0,
                                      .frequency_offset = uniform(-400.0, 400.0),
                                      .seed = static_cast<unsigned>(random() % 1000)});
        double power = 0.0;
        for (const phy::cf32& sample : recording.data)
            power += std::norm(std::complex<double>(sample)) / static_cast<double>(recording.length());
        const std::size_t of_slot = recording.length() / slots;
        const std::size_t of_symbol = of_slot / 14;
        const bool is_burst = trial % 4 >= 2;
        const std::size_t length = is_burst ? of_symbol * (1 + random() % 2) : 1;
        const std::size_t bad = random() % 8;
        const std::size_t at = bad * of_slot + random() % (of_slot - length);
        const double decibels = is_burst ? uniform(30.0, 40.0) : uniform(30.0, 140.0);
        const double amplitude = std::sqrt(power) * std::pow(10.0, decibels / 20.0);
        for (std::size_t i = at; i < at + length; ++i)
            recording.data[i] += phy::cf32(std::polar(amplitude, uniform(0.0, 6.28)));
        SCOPED_TRACE(testing::Message() << decibels << " dB at " << at << ", samples: " << length);
        const Reception done = receive(recording);
        const std::vector<std::byte> llr = written("/llr");
        const std::size_t bits = recording.codewords.size() / slots;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            if (slot == bad) continue;
            const auto begin = recording.codewords.begin() + static_cast<std::ptrdiff_t>(slot * bits);
            EXPECT_EQ(
                phy_test::count_errors({phy::SoftBitFormat::int8, std::span(llr).subspan(slot * bits, bits)},
                                       {begin, begin + static_cast<std::ptrdiff_t>(bits)}),
                0U)
                << "slot " << slot;
            EXPECT_EQ(done.reports[slot].erasures, 0U);
        }
    }
}

TEST_P(ReceiveFileOf, SlotsOfTheAllocationAlone) {
    phy::ReceiverConfig config = phy_test::recorded_config(GetParam());
    config.link.carrier.first_slot = 18;
    Recording recording = record(config, 6, {.snr_db = 45.0});
    // Slots 18, 19, 0, 1, 2, 3 are there.
    config.link.slots = {1, 19, 3};
    recording.write(capture(), to_json(config.link));
    const Reception done = receive_file(capture(), output());
    ASSERT_EQ(done.slots, 3U);
    EXPECT_EQ(done.reports[0].slot, 19U);
    EXPECT_EQ(done.reports[1].slot, 21U);
    EXPECT_EQ(done.reports[2].slot, 23U);
    std::vector<std::uint8_t> sent;
    const auto of_slot = static_cast<std::ptrdiff_t>(recording.codewords.size() / 6);
    for (const std::ptrdiff_t slot : {1, 3, 5}) {
        const auto begin = recording.codewords.begin() + slot * of_slot;
        sent.insert(sent.end(), begin, begin + of_slot);
    }
    const std::vector<std::byte> llr = written("/llr");
    EXPECT_EQ(phy_test::count_errors(phy::SoftBitView(phy::SoftBitFormat::int8, llr), sent), 0U);
}

TEST_P(ReceiveFileOf, AnEndInsideASlotIsSaid) {
    Recording recording = record(GetParam(), 3, {.snr_db = 45.0});
    recording.cut(recording.config.input == ReceiverInput::grid ? std::size_t{300} : std::size_t{1000});
    const Reception done = receive(recording);
    EXPECT_EQ(done.slots, 2U);
    EXPECT_EQ(done.bit_errors, 0U);
    ASSERT_EQ(done.warnings.size(), 2U);  // and codewords without slots
    EXPECT_NE(done.warnings[0].find("ends inside a slot: 2 whole slots"), std::string::npos)
        << done.warnings[0];
}

TEST_P(ReceiveFileOf, WithoutDmrsThereAreNoSoftBits) {
    const Recording recording = record(GetParam(), 3, {.snr_db = 45.0});
    phy::Link wrong = recording.config.link;
    wrong.allocation.dmrs.scrambling_id = 502;
    recording.write(capture(), to_json(wrong));
    const std::string text = error_of();
    EXPECT_NE(text.find("DM-RS were found in none of 3 slots"), std::string::npos) << text;
    EXPECT_NE(text.find("scrambling_id 502"), std::string::npos) << text;
    // The file has no attribute sample_rate.
    EXPECT_EQ(text.find("at the link's sample_rate") != std::string::npos,
              GetParam() == ReceiverInput::samples)
        << text;
}

TEST_P(ReceiveFileOf, DiagnosesWhatWouldFindDmrs) {
    const Recording recording = record(GetParam(), 3, {.snr_db = 45.0});
    phy::Link wrong = recording.config.link;
    wrong.allocation.dmrs.scrambling_id = 502;
    wrong.carrier.first_slot = 4;
    recording.write(capture(), to_json(wrong));
    ReceiveOptions options;
    options.diagnoses = true;
    options.diagnose.scrambling_ids = {17, 501};
    const std::string text = error_of(options);
    EXPECT_NE(text.find("scrambling_id 501"), std::string::npos) << text;
    EXPECT_NE(text.find("first_slot 0"), std::string::npos) << text;
}

TEST_P(ReceiveFileOf, DiagnosesWhereDmrsAreFoundToo) {
    const Recording recording = record(GetParam(), 3, {.snr_db = 45.0});
    ReceiveOptions options;
    options.diagnoses = true;
    const Reception right = receive(recording, options);
    EXPECT_NE(right.diagnosis.find("the best is the link as it is (coherence"), std::string::npos)
        << right.diagnosis;
    EXPECT_TRUE(right.warnings.empty()) << right.warnings.front();
    options.diagnoses = false;
    EXPECT_EQ(receive(recording, options).diagnosis, "");

    // With one symbol fewer its pilots agree too, and what is taken for data there is none.
    phy::Link fewer = recording.config.link;
    ASSERT_GT(fewer.allocation.dmrs.symbols.size(), 1U);
    fewer.allocation.dmrs.symbols.pop_back();
    recording.write(capture(), to_json(fewer));
    options.diagnoses = true;
    const Reception diagnosed = receive_file(capture(), {}, options);
    EXPECT_NE(diagnosed.diagnosis.find("the best is allocation.dmrs.symbols ["), std::string::npos)
        << diagnosed.diagnosis;
    EXPECT_TRUE(std::ranges::any_of(diagnosed.warnings, [&](const std::string& warning) {
        return warning.ends_with(diagnosed.diagnosis);
    }));
}

TEST_P(ReceiveFileOf, DiagnosesWhereNoSlotIsOfTheLink) {
    Recording recording = record(GetParam(), 3, {.snr_db = 45.0});
    phy::Link wrong = recording.config.link;
    wrong.slots = {0, 1, 2};
    wrong.carrier.first_slot = 5;
    recording.write(capture(), to_json(wrong));
    EXPECT_NE(error_of().find("none of which is one of the link's allocation.slots"), std::string::npos);
    ReceiveOptions options;
    options.diagnoses = true;
    const std::string text = error_of(options);
    EXPECT_NE(text.find("the best is carrier.first_slot 0 (coherence"), std::string::npos) << text;
}

TEST_P(ReceiveFileOf, ADiagnosisOfNoiseNamesNoSetting) {
    Recording recording = record(GetParam(), 4, {.snr_db = 45.0});
    std::mt19937 random(5);
    std::normal_distribution<float> noise;
    for (phy::cf32& sample : recording.data)
        sample = {noise(random), noise(random)};
    ReceiveOptions options;
    options.diagnoses = true;
    const auto expect = [&](const phy::Link& link, const std::string& why) {
        recording.write(capture(), to_json(link));
        // Few pilots of noise may look as if they were there.
        std::string text;
        try {
            text = receive_file(capture(), {}, options).diagnosis;
        } catch (const phy::FileError& error) {
            text = error.what();
        }
        EXPECT_NE(text.find("settings tried, none shows DM-RS clearly (coherence"), std::string::npos)
            << text;
        EXPECT_NE(text.find(why), std::string::npos) << text;
        EXPECT_EQ(text.ends_with("first_sample \"auto\" searches for them"),
                  GetParam() == ReceiverInput::samples)
            << text;
    };
    phy::Link link = recording.config.link;
    expect(link, ", expected at least 0.");
    recording.config.antennas = 1;
    recording.data.resize(recording.data.size() / 4);
    link.allocation.dmrs.ports = {0};
    link.allocation.resource_blocks = {{0, 1}};
    link.allocation.first_symbol = 0;
    link.allocation.symbols = 4;
    link.allocation.dmrs.symbols = {2};
    link.slots = {0};
    expect(link, GetParam() == ReceiverInput::grid ? ", which so many trials reach by chance)" : "coherence");
}

/// More slots are silent than a diagnosis looks at.
TEST_F(ReceiveFile, ADiagnosisLooksAtTheFirstSlotsThatHaveDmrs) {
    Recording recording = record(ReceiverInput::samples, 24, {.snr_db = 45.0});
    const std::size_t length = recording.length();
    for (std::size_t i = 0; i < recording.data.size(); ++i)
        if (i % length < length * 21 / 24) recording.data[i] *= 1e-4F;
    ReceiveOptions options;
    options.diagnoses = true;
    const Reception done = receive(recording, options);
    EXPECT_NE(done.diagnosis.find("the best is the link as it is (coherence"), std::string::npos)
        << done.diagnosis;
    for (const std::string& warning : done.warnings)
        EXPECT_EQ(warning.find("settings tried"), std::string::npos) << warning;
}

TEST_F(ReceiveFile, TheLinkIsNotRightAsItIsBesideAWarning) {
    Recording recording = record(ReceiverInput::samples, 3, {.snr_db = 45.0});
    recording.cut(1000);
    ReceiveOptions options;
    options.diagnoses = true;
    const Reception done = receive(recording, options);
    ASSERT_FALSE(done.warnings.empty());
    EXPECT_EQ(done.diagnosis.find("as it is"), std::string::npos) << done.diagnosis;
    EXPECT_NE(done.diagnosis.find("none is better than those of the link (coherence"), std::string::npos)
        << done.diagnosis;
    EXPECT_NE(done.diagnosis.find("see the warnings"), std::string::npos) << done.diagnosis;
}

TEST_F(ReceiveFile, ASearchThatFindsNothingIsDiagnosed) {
    Recording recording = record(ReceiverInput::samples, 4, {.snr_db = 45.0});
    recording.delay(4321);
    phy::Link wrong = recording.config.link;
    wrong.carrier.first_sample.reset();
    wrong.allocation.dmrs.n_scid = 1 - wrong.allocation.dmrs.n_scid;
    recording.write(capture(), to_json(wrong));
    EXPECT_EQ(error_of().find("settings tried"), std::string::npos);
    ReceiveOptions options;
    options.diagnoses = true;
    const std::string text = error_of(options);
    EXPECT_NE(text.find("the best is carrier.first_sample 43"), std::string::npos) << text;
    EXPECT_NE(text.find("allocation.dmrs.n_scid"), std::string::npos) << text;

    // The other of I and Q first.
    wrong.allocation.dmrs.n_scid = recording.config.link.allocation.dmrs.n_scid;
    for (phy::cf32& sample : recording.data)
        sample = {sample.imag(), sample.real()};
    recording.write(capture(), to_json(wrong));
    EXPECT_NE(error_of(options).find("the best is I and Q of the samples swapped, carrier.first_sample 43"),
              std::string::npos)
        << error_of(options);
}

TEST_F(ReceiveFile, ADiagnosisCanBeStopped) {
    const Recording recording = record(ReceiverInput::samples, 3, {.snr_db = 45.0});
    phy::Link wrong = recording.config.link;
    wrong.allocation.dmrs.scrambling_id = 502;
    recording.write(capture(), to_json(wrong));
    ReceiveOptions options;
    options.diagnoses = true;
    for (std::uint32_t i = 10'000; i < 10'100; ++i)
        options.diagnose.scrambling_ids.push_back(i);
    std::stop_source source;
    options.stop = source.get_token();
    options.progress = [&](std::uint64_t /*done*/, std::uint64_t all) {
        if (all > 100) source.request_stop();
    };
    EXPECT_TRUE(receive_file(capture(), output(), options).cancelled);
    EXPECT_FALSE(std::filesystem::exists(output()));
}

INSTANTIATE_TEST_SUITE_P(All, ReceiveFileOf, testing::Values(ReceiverInput::grid, ReceiverInput::samples),
                         [](const auto& input) {
                             return input.param == ReceiverInput::grid ? "Grid" : "Samples";
                         });

}  // namespace
