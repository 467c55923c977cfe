#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "receiver/recording.hpp"

namespace {

using phy_test::Recording;
using phy_test::RecordingConfig;

constexpr int slots = 3;

phy::Link sent_link() {
    phy::Link link;
    link.carrier = {.subcarrier_spacing = 30000,
                    .cell_id = 1,
                    .sample_rate = 15.36e6,
                    .center_frequency = 3.5e9,
                    .first_slot = 7};
    link.modulation = phy::Modulation::qam16;
    link.allocation.carrier_resource_blocks = 38;
    link.allocation.first_crb = 5;
    link.allocation.resource_blocks = {{2, 16}};
    link.allocation.dmrs.symbols = {2, 11};
    link.allocation.dmrs.ports = {0};
    link.allocation.dmrs.scrambling_id = 41;
    return link;
}

/// The recordings begin with this many samples of silence.
constexpr int silence = 100;

phy::ReceiverConfig receiver_of(phy::Link link, int antennas) {
    link.carrier.first_sample = silence;
    return {.link = link, .antennas = antennas, .delay_spread = 100e-9F};
}

Recording recording_of(const phy::Link& link, double snr_db = 20.0, int antennas = 2) {
    RecordingConfig config;
    config.link = link;
    config.antennas = antennas;
    config.slots = slots;
    config.silence = silence;
    config.snr_db = snr_db;
    config.delays = {0, 2};
    config.frequency = 250.0;
    return Recording(config);
}

phy::Diagnosis diagnose(const Recording& recording, const phy::Link& link, int antennas = 2) {
    return phy::diagnose(phy::Host(), receiver_of(link, antennas), recording.samples(),
                         {.scrambling_ids = {3, 41, 1000}});
}

/// That the best is the link that was sent.
void expect_found(const phy::Diagnosis& diagnosis, phy::Link sent, const std::string& change) {
    sent.carrier.first_sample = silence;
    const phy::Trial& best = diagnosis.best;
    EXPECT_EQ(best.change, change);
    EXPECT_EQ(best.link, sent);
    EXPECT_TRUE(best.is_found()) << best.coherence << ", " << best.chance;
    EXPECT_TRUE(best.fits()) << best.excess << ", " << best.evm;
    EXPECT_TRUE(diagnosis.given.change.empty());
    EXPECT_FALSE(diagnosis.cancelled);
}

TEST(DiagnoseTest, ARightLinkStaysAsItIs) {
    const phy::Diagnosis diagnosis = diagnose(recording_of(sent_link()), sent_link());
    expect_found(diagnosis, sent_link(), "");
    EXPECT_GT(diagnosis.best.coherence, 0.9);
    EXPECT_EQ(diagnosis.best.coherence, diagnosis.given.coherence);
    EXPECT_LT(diagnosis.best.evm, 0.15);
    EXPECT_LT(diagnosis.best.excess, 1.5);
    EXPECT_GT(diagnosis.best.excess, 0.7);
    // Slots x the link's identity and the cell's x n_SCID, at least.
    EXPECT_GT(diagnosis.tried, 20U * 2 * 2);
    EXPECT_EQ(diagnosis.agreeing,
              (std::vector<std::string>{"dmrs.ports", "dmrs.power_db", "dmrs.cdm_groups_without_data",
                                        "center_frequency (modulo 28029 Hz)", "modulation"}));
    EXPECT_TRUE(diagnosis.undecided.empty());
}

struct Wrong {
    std::string name;
    std::string change;
    void (*make)(phy::Link&);
};

class DiagnoseWrong : public ::testing::TestWithParam<Wrong> {};

TEST_P(DiagnoseWrong, IsFound) {
    const phy::Link sent = sent_link();
    phy::Link link = sent;
    GetParam().make(link);
    const Recording recording = recording_of(sent);
    expect_found(diagnose(recording, link), sent, GetParam().change);
}

INSTANTIATE_TEST_SUITE_P(
    Links, DiagnoseWrong,
    ::testing::Values(
        Wrong{"slot", "carrier.first_slot 7", [](phy::Link& link) { link.carrier.first_slot = 0; }},
        Wrong{"identity", "allocation.dmrs.scrambling_id 41",
              [](phy::Link& link) { link.allocation.dmrs.scrambling_id = 40; }},
        Wrong{"n_scid", "allocation.dmrs.n_scid 0", [](phy::Link& link) { link.allocation.dmrs.n_scid = 1; }},
        Wrong{"symbols", "allocation.dmrs.symbols [2, 11]",
              [](phy::Link& link) { link.allocation.dmrs.symbols = {3}; }},
        Wrong{"fewer_symbols", "allocation.dmrs.symbols [2, 11]",
              [](phy::Link& link) { link.allocation.dmrs.symbols = {2}; }},
        Wrong{"more_symbols", "allocation.dmrs.symbols [2, 11]",
              [](phy::Link& link) {
                  link.allocation.dmrs.symbols = {2, 7, 11};
              }},
        Wrong{"length", "allocation.dmrs.length 1, allocation.dmrs.symbols [2, 11]",
              [](phy::Link& link) {
                  link.allocation.dmrs.length = 2;
                  link.allocation.dmrs.symbols = {2, 3};
              }},
        Wrong{"type", "allocation.dmrs.type 1", [](phy::Link& link) { link.allocation.dmrs.type = 2; }},
        Wrong{"all",
              "carrier.first_slot 7, allocation.dmrs.type 1, allocation.dmrs.symbols [2, 11], "
              "allocation.dmrs.scrambling_id 41, allocation.dmrs.n_scid 0",
              [](phy::Link& link) {
                  link.carrier.first_slot = 19;
                  link.allocation.dmrs.type = 2;
                  link.allocation.dmrs.symbols = {3, 8};
                  link.allocation.dmrs.scrambling_id = 5;
                  link.allocation.dmrs.n_scid = 1;
              }}),
    [](const auto& test) { return test.param.name; });

TEST(DiagnoseTest, AnotherCenterFrequencyShowsInErrorVectors) {
    phy::Link sent = sent_link();
    sent.carrier.center_frequency = 0.0;
    const Recording recording = recording_of(sent, 30.0);
    const phy::Diagnosis diagnosis = diagnose(recording, sent_link());
    expect_found(diagnosis, sent, "carrier.center_frequency 0");
}

TEST(DiagnoseTest, RangesOfDifferentLengthsAreFoundTogether) {
    for (const int type : {1, 2}) {
        phy::Link sent = sent_link();
        sent.allocation.dmrs.type = type;
        sent.allocation.resource_blocks = {{30, 1}, {2, 12}, {20, 3}};
        phy::Link link = sent;
        link.carrier.first_slot = 3;
        link.allocation.dmrs.symbols = {2};
        expect_found(diagnose(recording_of(sent), link), sent,
                     "carrier.first_slot 7, allocation.dmrs.symbols [2, 11]");
    }
}

/// f0 of the recording is given beside the link's, in any order with others.
TEST(DiagnoseTest, TheCenterFrequencyOfTheRecordingIsTried) {
    const phy::Link sent = sent_link();
    const Recording recording = recording_of(sent, 30.0);
    for (const double of_link : {0.0, 1.7e9, 3.5e9}) {
        for (const std::vector<double>& given :
             {std::vector{3.5e9}, std::vector{1.7e9, 3.5e9, 0.0}, std::vector{3.5e9, -1.0}}) {
            SCOPED_TRACE(of_link);
            phy::Link link = sent;
            link.carrier.center_frequency = of_link;
            const phy::Diagnosis diagnosis = phy::diagnose(
                phy::Host(), receiver_of(link, 2), recording.samples(), {.center_frequencies = given});
            expect_found(diagnosis, sent, of_link == 3.5e9 ? "" : "carrier.center_frequency 3500000000");
        }
    }
}

/// Few pilots, of which the best of thousands of settings agree well by chance.
TEST(DiagnoseTest, FewPilotsThatAreNotThereAreNotFound) {
    phy::Link sent = sent_link();
    sent.allocation.resource_blocks = {{2, 2}};
    int coherent = 0;
    for (unsigned seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(seed);
        RecordingConfig config;
        config.link = sent;
        config.slots = 1;
        config.silence = silence;
        config.snr_db = 30.0;
        config.fills_carrier = true;
        config.seed = seed;
        const Recording recording(config);
        const auto best_with = [&](std::uint32_t identity) {
            phy::Link link = sent;
            link.allocation.dmrs.scrambling_id = identity;
            return phy::diagnose(phy::Host(), receiver_of(link, 1), recording.samples(),
                                 {.scrambling_ids = {3, 1000}})
                .best;
        };
        const phy::Trial right = best_with(41);
        EXPECT_TRUE(right.is_found()) << right.chance;
        EXPECT_EQ(right.change, "");
        const phy::Trial wrong = best_with(40);
        EXPECT_FALSE(wrong.is_found()) << wrong.change << ", " << wrong.coherence;
        EXPECT_GT(wrong.chance, 1e-4);
        coherent += wrong.coherence >= phy::min_coherence(wrong.link.allocation) ? 1 : 0;
    }
    EXPECT_GT(coherent, 0) << "coherence would say the same";
}

/// Where one slot has nearly all of the power, its pilots alone are what may agree by chance.
TEST(DiagnoseTest, SilentSlotsAreNoEvidence) {
    const phy::Link link = sent_link();
    const auto chance_of = [&](int silent) {
        RecordingConfig config;
        config.link = link;
        config.slots = 1;
        config.snr_db = -6.0;
        phy::OfdmDemodulator demodulate(phy::Host(), {.ofdm = phy::ofdm_config(link, 1)});
        std::vector<phy::cf32> input(demodulate.timing().slot_elements());
        demodulate(Recording(config).slots(0, 1), {.first = 7}, input);
        const std::size_t of_slot = input.size();
        input.resize(of_slot * static_cast<std::size_t>(1 + silent));
        for (std::size_t i = of_slot; i < input.size(); ++i)
            input[i] = 1e-3F * input[(i * 7) % of_slot];
        phy::ReceiverConfig receiver = receiver_of(link, 1);
        receiver.input = phy::ReceiverInput::grid;
        const phy::Diagnosis diagnosis = phy::diagnose(phy::Host(), receiver, input);
        // That of one setting.
        return diagnosis.given.chance / static_cast<double>(diagnosis.tried);
    };
    const double alone = chance_of(0);
    EXPECT_GT(alone, 0.0);
    EXPECT_LT(alone, 1e-5);
    EXPECT_NEAR(std::log(chance_of(9)), std::log(alone), 0.01 * std::fabs(std::log(alone)));
}

TEST(DiagnoseTest, LayersAndDoubleSymbolsAreFound) {
    phy::Link sent = sent_link();
    sent.direction = phy::Direction::downlink;
    sent.allocation.dmrs.length = 2;
    sent.allocation.dmrs.symbols = {2, 3, 10, 11};
    sent.allocation.dmrs.ports = {0, 1, 2, 3};
    const Recording recording = recording_of(sent, 15.0, 4);
    phy::Link link = sent;
    link.allocation.dmrs.symbols = {2};
    link.allocation.dmrs.length = 1;
    link.allocation.dmrs.n_scid = 1;
    expect_found(
        diagnose(recording, link, 4), sent,
        "allocation.dmrs.length 2, allocation.dmrs.symbols [2, 3, 10, 11], allocation.dmrs.n_scid 0");
}

TEST(DiagnoseTest, OfEqualSlotsTheLinksOwnCounts) {
    phy::Link sent = sent_link();
    sent.allocation.dmrs.transform_precoding = true;
    const Recording recording = recording_of(sent);
    expect_found(diagnose(recording, sent), sent, "");
    phy::Link link = sent;
    link.allocation.dmrs.scrambling_id = 12;
    expect_found(diagnose(recording, link), sent, "allocation.dmrs.scrambling_id 41");
}

/// The DM-RS are the same in all slots, of which the link has one, and that one is a little worse than
/// others.
TEST(DiagnoseTest, OfEqualSlotsTheLinksOwnCountsEvenIfOthersAreBetter) {
    phy::Link sent = sent_link();
    sent.allocation.dmrs.transform_precoding = true;
    const Recording recording = recording_of(sent);
    std::mt19937_64 random(3);
    std::vector<phy::cf32> input = recording.samples();
    const auto of_slot = std::span(input).subspan(silence, 7680);
    double power = 0.0;
    for (const phy::cf32 sample : of_slot)
        power += static_cast<double>(std::norm(sample)) / static_cast<double>(of_slot.size());
    for (phy::cf32& sample : of_slot)
        sample += phy::cf32(phy_test::gaussian(random, 0.5 * power));
    sent.slots = {7};
    expect_found(phy::diagnose(phy::Host(), receiver_of(sent, 2), input), sent, "");
    // Another slot would have more coherence.
    phy::Link other = sent;
    other.slots = {8};
    EXPECT_GT(phy::diagnose(phy::Host(), receiver_of(other, 2), input).best.coherence,
              phy::diagnose(phy::Host(), receiver_of(sent, 2), input).best.coherence + 0.02);
}

TEST(DiagnoseTest, OnlySlotsOfTheScheduleCount) {
    phy::Link sent = sent_link();
    sent.slots = {8};
    const Recording recording = recording_of(sent);
    phy::Link link = sent;
    link.carrier.first_slot = 2;
    expect_found(diagnose(recording, link), sent, "carrier.first_slot 7");
}

TEST(DiagnoseTest, SlotsWithLongerPrefixesFitTogether) {
    phy::Link sent = sent_link();
    sent.carrier.subcarrier_spacing = 120000;
    sent.carrier.sample_rate = 512 * 120000.0;
    sent.carrier.first_slot = 75;
    const Recording recording = recording_of(sent);
    phy::Link link = sent;
    link.carrier.first_slot = 6;
    const phy::Diagnosis diagnosis = diagnose(recording, link);
    expect_found(diagnosis, sent, "carrier.first_slot 75");
    EXPECT_GT(diagnosis.best.coherence, 0.85);
}

TEST(DiagnoseTest, GridsAreDiagnosedToo) {
    const phy::Link sent = sent_link();
    const Recording recording = recording_of(sent);
    phy::OfdmDemodulator demodulate(phy::Host(), {.ofdm = phy::ofdm_config(sent, 2)});
    std::vector<phy::cf32> grid(slots * 2 * demodulate.timing().slot_elements());
    const std::span<const phy::cf32> samples = recording.samples();
    demodulate(samples.subspan(100), {.first = 7, .count = slots, .stride = recording.length()}, grid);
    phy::Link link = sent;
    link.carrier.first_slot = 3;
    link.carrier.sample_rate.reset();
    link.carrier.center_frequency.reset();
    phy::ReceiverConfig receiver = receiver_of(link, 2);
    receiver.input = phy::ReceiverInput::grid;
    const phy::Diagnosis diagnosis = phy::diagnose(phy::Host(), receiver, grid);
    EXPECT_EQ(diagnosis.best.change, "carrier.first_slot 7");
    EXPECT_TRUE(diagnosis.best.fits());
}

TEST(DiagnoseTest, NoiseHasNothing) {
    for (int i = 0; i < 3; ++i) {
        const phy::Diagnosis diagnosis =
            diagnose(recording_of(sent_link(), -60.0, i + 1), sent_link(), i + 1);
        EXPECT_FALSE(diagnosis.best.is_found()) << diagnosis.best.change;
        EXPECT_LT(diagnosis.given.coherence, phy::min_coherence(sent_link().allocation));
    }
}

TEST(DiagnoseTest, EveryBackendSaysTheSame) {
    phy::Link link = sent_link();
    link.allocation.resource_blocks = {{2, 6}};
    const Recording recording = recording_of(link, 5.0);
    link.carrier.first_slot = 4;
    const phy::Diagnosis expected = diagnose(recording, link);
    for (const phy::Backend backend : phy::Backend::all()) {
        if (backend.kind() == phy::Backend::Kind::cuda || !backend.supported()) continue;
        const phy::Host host = phy::detail::host_of_exactly(2, backend);
        const phy::Diagnosis diagnosis =
            phy::diagnose(host, receiver_of(link, 2), recording.samples(), {.scrambling_ids = {3, 41, 1000}});
        EXPECT_EQ(diagnosis.best.change, expected.best.change);
        EXPECT_EQ(diagnosis.best.coherence, expected.best.coherence) << backend.name();
        EXPECT_EQ(diagnosis.best.excess, expected.best.excess) << backend.name();
        EXPECT_EQ(diagnosis.best.evm, expected.best.evm) << backend.name();
        EXPECT_EQ(diagnosis.tried, expected.tried);
    }
}

TEST(DiagnoseTest, RefusesWhatReceiverRefuses) {
    const phy::ReceiverConfig receiver = receiver_of(sent_link(), 2);
    EXPECT_THROW(phy::diagnose(phy::Host(), receiver, std::vector<phy::cf32>()), phy::ArgumentError);
    EXPECT_THROW(phy::diagnose(phy::Host(), receiver, std::vector<phy::cf32>(1001)), phy::ArgumentError);
}

}  // namespace
