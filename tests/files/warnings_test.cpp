// What receive_file() says of mistakes, and that it says nothing of right links.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "phy/core/error.hpp"
#include "phy/files/receive.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::cf32;
using phy::Link;
using phy::Modulation;
using phy_test::AirCapture;
using Config = phy::apps::Recording::Config;

class Warnings : public testing::Test {
protected:
    /// What is said of a capture with this link: warnings, or an error, one per line; without notes on the
    /// length of the capture and on transmitted codewords, which do not come with other captures.
    std::string said_of(const AirCapture& capture, const Link& link,
                        const phy::ReceiveOptions& options = {}) {
        const std::filesystem::path file = folder_ / "capture.h5";
        capture.write(file, link);
        try {
            const phy::Reception done = receive_file(file, {}, options);
            std::string text;
            for (const std::string& warning : done.warnings) {
                const bool is_note = warning.find("dataset codeword") != std::string::npos ||
                                     warning.find("ends inside a slot") != std::string::npos;
                if (!is_note) text += warning + "\n";
            }
            error_over_noise_db_ = done.mean.error_over_noise_db;
            evm_ = done.mean.evm;
            noise_variance_ = done.mean.noise_variance;
            return text;
        } catch (const phy::FileError& error) {
            return std::string("error: ") + error.what() + "\n";
        }
    }

    double error_over_noise_db_ = 0.0;
    double evm_ = 0.0;
    double noise_variance_ = 0.0;

private:
    phy_test::TemporaryDirectory folder_;
};

/// One mistake: how the recording, its samples and the link that is given differ from the plain ones.
struct Mistake {
    std::string name;
    std::string said;  ///< part of what is said
    std::function<void(Config&)> sends = [](Config&) {};
    std::function<void(AirCapture&)> spoils = [](AirCapture&) {};
    std::function<void(Link&)> says = [](Link&) {};
};

void multiply(AirCapture& capture, double hertz) {
    const double turn = 2.0 * std::numbers::pi * hertz / capture.sent.link.carrier.sample_rate.value();
    for (std::size_t i = 0; i < capture.data.size(); ++i)
        capture.data[i] = cf32(std::complex<double>(capture.data[i]) *
                               std::polar(1.0, turn * static_cast<double>(i % capture.length())));
}

double rms(const AirCapture& capture) {
    double power = 0.0;
    for (const cf32 sample : capture.data)
        power += static_cast<double>(std::norm(sample));
    return std::sqrt(power / static_cast<double>(capture.data.size()));
}

/// Limits I and Q to this many times the rms of a sample.
void clip(AirCapture& capture, double level) {
    const auto limit = static_cast<float>(level * rms(capture));
    for (cf32& sample : capture.data)
        sample = {std::clamp(sample.real(), -limit, limit), std::clamp(sample.imag(), -limit, limit)};
}

void add_line(AirCapture& capture, double level) {
    const auto line = static_cast<float>(level * rms(capture));
    for (cf32& sample : capture.data)
        sample += cf32(line, 0.5F * line);
}

void add_image(AirCapture& capture, double amplitude) {
    const auto share = static_cast<float>(amplitude);
    for (cf32& sample : capture.data)
        sample += share * cf32(0.6F, 0.8F) * std::conj(sample);
}

void modulate(Config& config, Modulation modulation, double snr_db) {
    config.link.modulation = modulation;
    config.snr_db = snr_db;
}

auto sent(Modulation modulation, double snr_db = 30.0) {
    return [=](Config& config) { modulate(config, modulation, snr_db); };
}
auto said(Modulation modulation) {
    return [=](Link& link) { link.modulation = modulation; };
}
auto said_f0(double hertz) {
    return [=](Link& link) { link.carrier.center_frequency = hertz; };
}
auto said_symbols(const std::vector<int>& symbols) {
    return [=](Link& link) { link.allocation.dmrs.symbols = symbols; };
}
auto said_blocks(int first, int count) {
    return [=](Link& link) { link.allocation.resource_blocks = {{first, count}}; };
}
auto said_ports(const std::vector<int>& ports) {
    return [=](Link& link) { link.allocation.dmrs.ports = ports; };
}
auto sent_ports(const std::vector<int>& ports) {
    return [=](Config& config) {
        config.link.allocation.dmrs.ports = ports;
        config.antennas = 4;
    };
}
auto shifted(double hertz) {
    return [=](AirCapture& capture) { multiply(capture, hertz); };
}

/// As signed 16-bit integers that are read as unsigned ones.
void take_as_unsigned(AirCapture& capture) {
    const auto scale = static_cast<float>(3000.0 / rms(capture));
    const auto taken = [&](float value) {
        const auto stored = static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(value * scale)));
        return static_cast<float>(stored) - 32768.0F;
    };
    for (cf32& sample : capture.data)
        sample = {taken(sample.real()), taken(sample.imag())};
}

/// DM-RS of type 1 look alike half an OFDM symbol later. In samples.
std::uint64_t half_a_symbol(const Link& link) {
    return static_cast<std::uint64_t>(*link.carrier.sample_rate / link.carrier.subcarrier_spacing / 2.0);
}

/// A carrier that leaves no space for a filter: nothing is taken out of its samples.
void full(Config& config) {
    config.link.allocation.carrier_resource_blocks = 32;
}

void with_ptrs(Config& config) {
    config.link.modulation = Modulation::qpsk;
    config.link.allocation.ptrs =
        phy::PtrsConfig{.resource_element_offset = 2, .rnti = config.link.scrambling.rnti};
}

std::vector<Mistake> mistakes() {
    const auto nothing = [](Config&) {};
    const auto as_is = [](AirCapture&) {};
    const std::string far = "farther from the points";
    const std::string levels = "outermost levels";
    return {
        {"f0 of 0", far, nothing, as_is, said_f0(0.0)},
        {"f0 off by 1.2345 MHz", "carrier.center_frequency", nothing, as_is, said_f0(3.5012345e9)},
        {"f0 off by 15 kHz", far, nothing, as_is, said_f0(3.500015e9)},
        {"f0 off by 1 kHz", "carrier.center_frequency", nothing, as_is, said_f0(3.500001e9)},
        {"f0 off by 20 kHz", far, nothing, as_is, said_f0(3.50002e9)},
        {"QPSK said, 16QAM sent", far, sent(Modulation::qam16), as_is, said(Modulation::qpsk)},
        {"QPSK said, 64QAM sent", far, sent(Modulation::qam64), as_is, said(Modulation::qpsk)},
        {"16QAM said, 64QAM sent", far, sent(Modulation::qam64), as_is, said(Modulation::qam16)},
        {"64QAM said, 256QAM sent", far, sent(Modulation::qam256, 35.0), as_is, said(Modulation::qam64)},
        {"16QAM said, QPSK sent", levels, sent(Modulation::qpsk), as_is, said(Modulation::qam16)},
        {"64QAM said, QPSK sent", levels, sent(Modulation::qpsk), as_is, said(Modulation::qam64)},
        {"256QAM said, QPSK sent", levels, sent(Modulation::qpsk), as_is, said(Modulation::qam256)},
        {"64QAM said, 16QAM sent", far, sent(Modulation::qam16), as_is, said(Modulation::qam64)},
        {"64QAM said, 16QAM sent at 22 dB", levels, sent(Modulation::qam16, 22.0), as_is,
         said(Modulation::qam64)},
        {"256QAM said, 16QAM sent", levels, sent(Modulation::qam16), as_is, said(Modulation::qam256)},
        {"256QAM said, 64QAM sent", far, sent(Modulation::qam64, 35.0), as_is, said(Modulation::qam256)},
        {"1024QAM said, 256QAM sent", far, sent(Modulation::qam256, 38.0), as_is, said(Modulation::qam1024)},
        {"port 1 for 0", "dmrs.ports", nothing, as_is, said_ports({1})},
        {"port 2 for 0", "dmrs.ports", nothing, as_is, said_ports({2})},
        {"port 3 for 1", "dmrs.ports", sent_ports({1}), as_is, said_ports({3})},
        {"ports 0 and 2 for 0 and 1", "dmrs.ports", sent_ports({0, 1}), as_is, said_ports({0, 2})},
        {"one layer for two of a group", "dmrs.ports", sent_ports({0, 1}), as_is, said_ports({0})},
        {"one layer for two of two groups", far, sent_ports({0, 2}), as_is, said_ports({0})},
        {"two layers of a group for one", "layers", nothing, as_is, said_ports({0, 1})},
        {"two layers of two groups for one", "layers", nothing, as_is, said_ports({0, 2})},
        {"one CDM group without data for two", far, nothing, as_is,
         [](Link& link) { link.allocation.dmrs.cdm_groups_without_data = 1; }},
        {"two CDM groups without data for one", far,
         [](Config& config) { config.link.allocation.dmrs.cdm_groups_without_data = 1; }, as_is,
         [](Link& link) { link.allocation.dmrs.cdm_groups_without_data = 2; }},
        {"a DM-RS symbol too few", "there are DM-RS in symbols 11", nothing, as_is, said_symbols({2})},
        {"a DM-RS symbol too many", "not in symbols 7", nothing, as_is, said_symbols({2, 7, 11})},
        {"a DM-RS symbol at 7 for 11", "not in symbols 7", nothing, as_is, said_symbols({2, 7})},
        {"a DM-RS symbol at 3 for 2", "not in symbols 3", nothing, as_is, said_symbols({3, 11})},
        {"no PT-RS said",
         "allocation.ptrs is missing; expected time_density 1, frequency_density 2, "
         "resource_element_offset 2 with port 0",
         with_ptrs, as_is, [](Link& link) { link.allocation.ptrs.reset(); }},
        {"PT-RS said that are not sent", "no PT-RS where the link has them", nothing, as_is,
         [](Link& link) { link.allocation.ptrs = phy::PtrsConfig{.rnti = link.scrambling.rnti}; }},
        {"PT-RS said every second symbol", "time_density 1", with_ptrs, as_is,
         [](Link& link) { link.allocation.ptrs->time_density = 2; }},
        {"PT-RS said in every fourth resource block", "frequency_density 2", with_ptrs, as_is,
         [](Link& link) { link.allocation.ptrs->frequency_density = 4; }},
        {"another PT-RS subcarrier said", "subcarrier 6", with_ptrs, as_is,
         [](Link& link) { link.allocation.ptrs->resource_element_offset = 1; }},
        {"another RNTI, which shifts PT-RS", "rnti may be wrong", with_ptrs, as_is,
         [](Link& link) { link.allocation.ptrs->rnti = ++link.scrambling.rnti; }},
        {"a symbol too many", far, [](Config& config) { config.link.allocation.symbols = 13; }, as_is,
         [](Link& link) { link.allocation.symbols = 14; }},
        {"a resource block too many", "resource blocks 25", nothing, as_is, said_blocks(1, 25)},
        {"a resource block too many at the front", "resource blocks 0", nothing, as_is, said_blocks(0, 25)},
        {"resource blocks one too low, 16QAM", "resource blocks 0", sent(Modulation::qam16, 22.0), as_is,
         said_blocks(0, 24)},
        {"130 kHz too high", "error", nothing, shifted(130e3)},
        {"120 kHz too high", "error", nothing, shifted(120e3)},
        {"clipped at 1 rms", "samples are clipped", nothing, [](AirCapture& c) { clip(c, 1.0); }},
        {"clipped at 1 rms, resampled", "samples are clipped",
         [](Config& config) { config.link.carrier.sample_rate = 20e6; }, [](AirCapture& c) { clip(c, 1.0); }},
        {"sample rate off by 0.5 %", "timing", [](Config& config) { config.link.carrier.sample_rate = 20e6; },
         as_is, [](Link& link) { link.carrier.sample_rate = 20.1e6; }},
        {"clipped at 0.6 rms", "samples are clipped", nothing, [](AirCapture& c) { clip(c, 0.6); }},
        {"signed integers read as unsigned ones", "the number format", sent(Modulation::qpsk),
         take_as_unsigned},
        {"a line at frequency 0 of the signal's power", "line at frequency 0", full,
         [](AirCapture& c) { add_line(c, 1.0); }},
        {"a line at frequency 0, 17 dB below the signal", "line at frequency 0", full,
         [](AirCapture& c) { add_line(c, 0.125); }},
        {"an image of -14 dB", "mirror image", full, [](AirCapture& c) { add_image(c, 0.2); }},
        {"an image of -24 dB", "mirror image", full, [](AirCapture& c) { add_image(c, 0.063); }},
        {"first_sample 150 too large", "carrier.first_sample", nothing, as_is,
         [](Link& link) { link.carrier.first_sample = 150; }},
        {"first_sample half a symbol too large", "half a symbol", nothing, as_is,
         [](Link& link) { link.carrier.first_sample = half_a_symbol(link); }},
        {"first_sample half a symbol and a tenth of a prefix too large", "half a symbol", nothing, as_is,
         [](Link& link) { link.carrier.first_sample = half_a_symbol(link) + half_a_symbol(link) / 72; }},
        {"f0 off by 14 kHz", "near the half turn", nothing, as_is, said_f0(3.500014e9)},
        {"conjugated", "error", nothing,
         [](AirCapture& c) {
             for (cf32& sample : c.data)
                 sample = std::conj(sample);
         }},
        {"another identity", "error", nothing, as_is,
         [](Link& link) { link.allocation.dmrs.scrambling_id = 502; }},
        {"another slot", "error", nothing, as_is, [](Link& link) { link.carrier.first_slot = 1; }},
        {"DM-RS 6 dB too strong", far, nothing, as_is,
         [](Link& link) { link.allocation.dmrs.power_db = -3.0F; }},
    };
}

class Mistakes : public Warnings, public testing::WithParamInterface<Mistake> {};

TEST_P(Mistakes, AreSaid) {
    const Mistake& mistake = GetParam();
    Config config = phy_test::plain_recording();
    mistake.sends(config);
    AirCapture capture(config);
    mistake.spoils(capture);
    Link link = config.link;
    mistake.says(link);
    const std::string text = said_of(capture, link);
    EXPECT_FALSE(text.empty()) << mistake.name << ": " << error_over_noise_db_ << " dB";
    EXPECT_NE(text.find(mistake.said), std::string::npos) << mistake.name << ": " << text;
}

INSTANTIATE_TEST_SUITE_P(All, Mistakes, testing::ValuesIn(mistakes()), [](const auto& its) {
    std::string name = its.param.name;
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
});

TEST_F(Warnings, ThatSymbolsAreFarNameJointDetectionIfItIsOn) {
    Config config = phy_test::plain_recording();
    sent_ports({0, 1})(config);
    const AirCapture capture(config);
    Link link = config.link;
    link.allocation.dmrs.power_db = 4.0F;  // 3 dB is sent
    const std::string advice = "joint_detection off tolerates a wrong power_db better";
    const std::string jointly = said_of(capture, link);
    EXPECT_NE(jointly.find("farther from the points"), std::string::npos) << jointly;
    EXPECT_NE(jointly.find(advice), std::string::npos) << jointly;
    phy::ReceiveOptions options;
    options.joint_detection = false;
    const std::string equalised = said_of(capture, link, options);
    EXPECT_NE(equalised.find("farther from the points"), std::string::npos) << equalised;
    EXPECT_EQ(equalised.find(advice), std::string::npos) << equalised;
}

TEST_F(Warnings, ThereAreNoneForRightLinks) {
    const auto seed = phy_test::random_seed();
    for (int i = 0; i < phy_test::fewer_times(24); ++i) {
        std::mt19937 random(seed + static_cast<unsigned>(i));
        const double snr_db = std::uniform_real_distribution<double>(0.0, 60.0)(random);
        const Config config = phy_test::random_recording(random, snr_db);
        const std::string text = said_of(AirCapture(config), config.link);
        // Noise may hide DM-RS that fade by 6 dB: see phy::min_coherence().
        const double ratio = std::pow(10.0, (snr_db - 6.0) / 10.0);
        const bool may_be_hidden = ratio / (1.0 + ratio) < phy::min_coherence(config.link.allocation);
        if (may_be_hidden && text.find("the coherence is 0.") != std::string::npos) continue;
        // So may fades of several slots.
        if (snr_db < 10.0 && text.find("the DM-RS were not found in") != std::string::npos) continue;
        EXPECT_EQ(text, "") << "seed " << seed + static_cast<unsigned>(i) << ", " << snr_db << " dB";
    }
}

TEST_F(Warnings, SayWhichPtrsALinkLacks) {
    const auto seed = phy_test::random_seed();
    std::mt19937 random(seed);
    int clear = 0;
    for (int i = 0; i < phy_test::fewer_times(6); ++i) {
        Config config;
        do
            config = phy_test::random_recording(random, 28.0);
        while (!config.link.allocation.ptrs || config.link.allocation.resource_blocks.front().count < 24);
        config.slots = 12;
        const AirCapture capture(config);
        const std::string text_of_link = said_of(capture, config.link);
        if (evm_ > 0.2) continue;  // deep fades hide them
        EXPECT_EQ(text_of_link, "") << "seed " << seed << ", " << i;
        ++clear;
        Link link = config.link;
        link.allocation.ptrs.reset();
        const std::string text = said_of(capture, link);
        const phy::PtrsConfig& ptrs = *config.link.allocation.ptrs;
        const phy::PtrsPort port = ptrs_ports(config.link.allocation).front();
        const std::string places = "on subcarrier " + std::to_string(port.subcarriers.front() % 12) +
                                   " of resource blocks " + std::to_string(port.subcarriers.front() / 12) +
                                   ",";
        const std::string expected = "allocation.ptrs is missing; expected time_density " +
                                     std::to_string(ptrs.time_density) + ", frequency_density " +
                                     std::to_string(ptrs.frequency_density) + ", resource_element_offset ";
        for (const std::string& part : {places, expected})
            EXPECT_NE(text.find(part), std::string::npos)
                << part << ": " << text << ", seed " << seed << ", " << i;
    }
    EXPECT_GT(clear, 0) << "seed " << seed;
}

TEST_F(Warnings, ThereAreNoneForPtrsInFewSlotsOrUnderReservedElements) {
    Config config = phy_test::plain_recording();
    with_ptrs(config);
    config.slots = 40;
    config.link.slots = {5};
    const AirCapture capture(config);
    Link link = config.link;
    link.slots.clear();
    EXPECT_EQ(said_of(capture, link).find("PT-RS"), std::string::npos);

    config.link.slots.clear();
    phy::SlotAllocation& allocation = config.link.allocation;
    allocation.ptrs->time_density = 4;
    allocation.reserved = {{.symbols = {6}, .resource_blocks = {0, 26}, .subcarriers = {2, 6, 10}}};
    EXPECT_EQ(said_of(AirCapture(config), config.link), "");
}

TEST_F(Warnings, SayWhichPrecodedPtrsALinkLacks) {
    const auto seed = phy_test::random_seed();
    std::mt19937 random(seed);
    for (int i = 0; i < phy_test::fewer_times(8); ++i) {
        Config config = phy_test::precoded_recording(random, 28.0);
        config.slots = 12;
        config.antennas = 4;
        const AirCapture capture(config);
        const phy::PtrsConfig& ptrs = *config.link.allocation.ptrs;
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(i) + ": " + to_json(config.link));
        EXPECT_EQ(said_of(capture, config.link), "");
        const std::string expected = "; expected time_density " + std::to_string(ptrs.time_density) +
                                     ", groups " + std::to_string(ptrs.groups) + ", samples_per_group " +
                                     std::to_string(ptrs.samples_per_group);
        Link link = config.link;
        link.allocation.ptrs.reset();
        const std::string lacking = said_of(capture, link);
        EXPECT_NE(lacking.find("data: allocation.ptrs is missing" + expected), std::string::npos) << lacking;
        link.allocation.ptrs = ptrs;
        link.allocation.ptrs->samples_per_group = ptrs.samples_per_group == 2 ? 4 : 2;
        if (ptrs.groups == 8) link.allocation.ptrs->groups = 4;
        const std::string others = said_of(capture, link);
        EXPECT_NE(others.find("others: allocation.ptrs may be wrong" + expected), std::string::npos)
            << others;
        link = config.link;
        link.allocation.ptrs->rnti = link.scrambling.rnti ^= 1U;
        const std::string signs = said_of(capture, link);
        EXPECT_NE(signs.find("the PT-RS have signs of another user"), std::string::npos) << signs;
        config.link.allocation.ptrs.reset();
        const std::string none = said_of(AirCapture(config), link);
        EXPECT_NE(none.find("there are no PT-RS where the link has them"), std::string::npos) << none;
        EXPECT_EQ(said_of(AirCapture(config), config.link), "");
    }
}

/// Few groups may have samples and signs of many, with one slot per frame in all slots; noise may hide all.
TEST_F(Warnings, ThereAreNoneForRightPrecodedPtrs) {
    const auto seed = phy_test::random_seed();
    std::mt19937 random(seed);
    for (int i = 0; i < phy_test::fewer_times(24); ++i) {
        const double snr_db = std::uniform_real_distribution<double>(-8.0, 30.0)(random);
        Config config = phy_test::precoded_recording(random, snr_db);
        config.kind = phy::CaptureKind::grid;
        config.channel = {};
        config.link.modulation = snr_db > 20.0 ? Modulation::qam16 : Modulation::qpsk;
        if (i % 2 == 0) config.link.slots = {config.link.carrier.first_slot};
        config.slots = 80;
        const std::string text = said_of(AirCapture(config), config.link);
        EXPECT_EQ(text.find("PT-RS"), std::string::npos)
            << text << ", seed " << seed << ", " << i << ", " << snr_db << " dB: " << to_json(config.link);
    }
}

TEST_F(Warnings, SayThatAGivenNoiseIsTooLarge) {
    Config config;
    config.kind = phy::CaptureKind::grid;
    config.snr_db = 25.0;
    config.slots = 4;
    config.link.allocation.carrier_resource_blocks = 24;
    config.link.allocation.resource_blocks = {{.first = 2, .count = 20}};
    const AirCapture capture(config);
    EXPECT_EQ(said_of(capture, config.link), "");
    const double measured = noise_variance_;
    for (const double factor : {1.0, 100.0, 1e4}) {
        phy::ReceiveOptions options;
        options.noise_variance = static_cast<float>(factor * measured);
        const std::string text = said_of(capture, config.link, options);
        EXPECT_EQ(text.find("noise_variance, which was given, may be too large") != std::string::npos,
                  factor > 1.0)
            << factor << ": " << text;
    }
}

/// Both symbols of such DM-RS have the sequence of the first.
TEST_F(Warnings, ThereAreNoneForHoppingDoubleSymbolsOfLowPapr) {
    const auto seed = phy_test::random_seed();
    for (int i = 0; i < phy_test::fewer_times(12); ++i) {
        std::mt19937 random(seed + static_cast<unsigned>(i));
        Config config;
        config.kind = phy::CaptureKind::grid;
        config.snr_db = std::uniform_real_distribution<double>(10.0, 45.0)(random);
        config.slots = 3;
        config.seed = random();
        phy::SlotAllocation& allocation = config.link.allocation;
        allocation.carrier_resource_blocks = 60;
        allocation.resource_blocks = {{.first = phy_test::random_int(random, 0, 6), .count = 54}};
        allocation.dmrs = {
            .length = 2,
            .symbols = {2, 3, 10, 11},
            .scrambling_id = static_cast<std::uint32_t>(random() % 1008),
            .transform_precoding = true,
            .hopping = i % 2 == 0 ? phy::SequenceHopping::group : phy::SequenceHopping::sequence};
        EXPECT_EQ(said_of(AirCapture(config), config.link), "")
            << "seed " << seed + static_cast<unsigned>(i) << ", " << to_json(config.link);
    }
}

/// The channel at a lone block is uncertain, as symbols there show at high SNR.
TEST_F(Warnings, ThereAreNoneForLoneResourceBlocksAtTheEnds) {
    const auto seed = phy_test::random_seed();
    for (int i = 0; i < phy_test::fewer_times(12); ++i) {
        std::mt19937 random(seed + static_cast<unsigned>(i));
        Config config;
        config.kind = phy::CaptureKind::grid;
        config.snr_db = 45.0;
        config.slots = 2;
        config.seed = random();
        config.link.modulation = Modulation::qam64;
        phy::SlotAllocation& allocation = config.link.allocation;
        allocation.carrier_resource_blocks = 60;
        allocation.dmrs.type = 2;
        allocation.dmrs.symbols = {2};
        allocation.resource_blocks = {{.first = phy_test::random_int(random, 0, 8), .count = 1},
                                      {.first = 12, .count = phy_test::random_int(random, 12, 36)},
                                      {.first = phy_test::random_int(random, 50, 59), .count = 1}};
        EXPECT_EQ(said_of(AirCapture(config), config.link), "")
            << "seed " << seed + static_cast<unsigned>(i) << ", " << to_json(config.link);
    }
}

}  // namespace
