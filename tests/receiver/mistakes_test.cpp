// Recordings with one mistake each, or two, drawn at random.

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "phy/receiver/acquisition/acquisition.hpp"
#include "receiver/recording.hpp"
#include "support/fewer_cases.hpp"

namespace {

using phy_test::Recording;
using phy_test::RecordingConfig;

/// What was sent, what is said of it, and its samples.
struct Case {
    unsigned seed = 0;
    std::mt19937_64 random;
    RecordingConfig recording = {};
    phy::Link said = {};
    phy::DiagnoseOptions options = {};
    bool swaps_iq = false;     ///< of the samples
    bool swaps_bytes = false;  ///< the same, which become integers
    std::vector<phy::cf32> samples = {};

    [[nodiscard]] const phy::Link& sent() const { return recording.link; }
    int whole(int first, int last) { return std::uniform_int_distribution(first, last)(random); }
    /// A number of the range other than this one.
    int other(int first, int last, int than) {
        const int number = whole(first, last - 1);
        return number >= than ? number + 1 : number;
    }
    template <typename Value>
    Value one_of(const std::vector<Value>& values) {
        return values[static_cast<std::size_t>(whole(0, static_cast<int>(values.size()) - 1))];
    }
};

/// A link and the channel of its recording.
Case draw(unsigned seed) {
    Case drawn = {.seed = seed, .random = std::mt19937_64(seed)};
    RecordingConfig& config = drawn.recording;
    phy::Link& link = config.link;
    link.carrier = {.subcarrier_spacing = drawn.one_of<int>({15000, 30000}),
                    .cell_id = drawn.whole(0, 1007),
                    .center_frequency = 1e5 * drawn.whole(7000, 38000)};
    link.carrier.sample_rate = 512.0 * link.carrier.subcarrier_spacing;
    link.carrier.first_slot = drawn.whole(0, phy::slots_per_frame(link.carrier) - 1);
    link.modulation = drawn.one_of<phy::Modulation>(
        {phy::Modulation::qpsk, phy::Modulation::qam16, phy::Modulation::qam64, phy::Modulation::qam256});
    link.allocation.carrier_resource_blocks = 38;
    link.allocation.first_crb = drawn.whole(0, 100);
    const int blocks = drawn.whole(10, 20);
    link.allocation.resource_blocks = {{drawn.whole(0, 37 - blocks), blocks}};
    phy::DmrsConfig& dmrs = link.allocation.dmrs;
    dmrs.type = drawn.whole(1, 2);
    dmrs.symbols = drawn.one_of<std::vector<int>>({{2, 11}, {3, 11}, {2, 7, 11}, {2, 5, 8, 11}});
    dmrs.ports = drawn.one_of<std::vector<int>>({{0}, {1}, {0, 1}});
    dmrs.scrambling_id = static_cast<std::uint32_t>(drawn.whole(0, 65535));
    dmrs.n_scid = drawn.whole(0, 1);
    link.scrambling = {.rnti = static_cast<std::uint32_t>(drawn.whole(1, 60000)),
                       .id = static_cast<std::uint32_t>(drawn.whole(0, 1023))};
    config.antennas = link.allocation.layers() + drawn.whole(1, 2);
    config.slots = 3;
    config.silence = 700;
    config.snr_db = drawn.whole(24, 32);
    config.delays = {0, drawn.whole(1, 6)};
    config.frequency = drawn.whole(-2000, 2000);
    config.seed = seed;
    drawn.said = link;
    return drawn;
}

/// As integers of 16 bits, with the bytes of each in the wrong order.
std::vector<phy::ci16> with_swapped_bytes(const std::vector<phy::cf32>& samples) {
    std::vector<phy::ci16> result;
    const auto swapped = [](float value) {
        const auto bits =
            static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(30000.0F * value)));
        return static_cast<std::int16_t>(static_cast<std::uint16_t>(bits << 8U | bits >> 8U));
    };
    float most = 0.0F;
    for (const phy::cf32 sample : samples)
        most = std::max({most, std::fabs(sample.real()), std::fabs(sample.imag())});
    for (const phy::cf32 sample : samples)
        result.push_back({swapped(sample.real() / most), swapped(sample.imag() / most)});
    return result;
}

phy::Diagnosis diagnose(Case& drawn) {
    std::vector<phy::cf32> samples = Recording(drawn.recording).samples();
    phy::ReceiverConfig receiver = {.link = drawn.said, .antennas = drawn.recording.antennas};
    if (receiver.link.carrier.first_sample) {
        const auto silence = static_cast<std::uint64_t>(drawn.recording.silence);
        if (*receiver.link.carrier.first_sample == 0) receiver.link.carrier.first_sample = silence;
    }
    drawn.said = receiver.link;
    if (drawn.swaps_iq)
        for (phy::cf32& sample : samples)
            sample = {sample.imag(), sample.real()};
    if (drawn.swaps_bytes)
        return phy::diagnose(phy::Host(), receiver, with_swapped_bytes(samples), drawn.options);
    return phy::diagnose(phy::Host(), receiver, samples, drawn.options);
}

/// Empty if the diagnosis is that of the mistake.
std::string difference(const Case& drawn, const phy::Diagnosis& diagnosis) {
    const phy::Trial& best = diagnosis.best;
    phy::Link found = best.link;
    // Any slot may be the first, where it begins.
    const double slots = found.carrier.first_slot - drawn.sent().carrier.first_slot;
    const double frame = 7680.0 * phy::slots_per_frame(found.carrier);
    const double late = static_cast<double>(found.carrier.first_sample.value_or(0)) - 7680.0 * slots -
                        drawn.recording.silence;
    const bool is_near = std::fabs(std::remainder(late, frame)) < 18.0;
    if (found.carrier.first_sample != drawn.said.carrier.first_sample)
        found.carrier.first_slot = drawn.sent().carrier.first_slot;
    found.carrier.first_sample = drawn.sent().carrier.first_sample;
    // Many f0 rotate symbols alike, or so that a correction of the frequency offset removes it: those are
    // right that leave no more than the noise.
    const bool is_f0 = best.evm < 1.5 * std::pow(10.0, -drawn.recording.snr_db / 20.0);
    found.carrier.center_frequency = drawn.sent().carrier.center_frequency;
    std::string text;
    if (!best.is_found()) text += "not found; ";
    if (!best.fits()) text += "does not fit; ";
    if (!is_near) text += "begins elsewhere; ";
    if (!is_f0) text += "another f0; ";
    if (best.swaps_iq != drawn.swaps_iq || best.swaps_bytes != drawn.swaps_bytes) text += "other samples; ";
    if (!(found == drawn.sent())) text += "another link; ";
    return text;
}

std::string about(const Case& drawn, const phy::Diagnosis& diagnosis) {
    return "seed " + std::to_string(drawn.seed) + ", " + std::string(to_string(drawn.sent().modulation)) +
           " at " + std::to_string(drawn.recording.snr_db) + " dB: " + diagnosis.best.change +
           ", coherence " + std::to_string(diagnosis.best.coherence) + ", excess " +
           std::to_string(diagnosis.best.excess) + ", EVM " + std::to_string(diagnosis.best.evm) + ", " +
           std::to_string(diagnosis.tried) + " tried";
}

/// DM-RS positions between which f0 does not rotate by multiples of 90 degrees, which would not show.
void place_dmrs_for_f0(Case& drawn) {
    drawn.recording.link.allocation.dmrs.symbols = {2, 11};
    drawn.said.allocation.dmrs.symbols = {2, 11};
}

struct Mistake {
    std::string name;
    void (*make)(Case&);
};

const std::vector<Mistake> mistakes = {
    {"first_slot",
     [](Case& c) {
         phy::LinkCarrier& carrier = c.said.carrier;
         carrier.first_slot = c.other(0, phy::slots_per_frame(carrier) - 1, carrier.first_slot);
     }},
    {"n_scid", [](Case& c) { c.said.allocation.dmrs.n_scid = 1 - c.said.allocation.dmrs.n_scid; }},
    {"cell_for_scrambling_id",
     [](Case& c) {
         c.recording.link.allocation.dmrs.scrambling_id =
             static_cast<std::uint32_t>(*c.recording.link.carrier.cell_id);
         c.said.allocation.dmrs.scrambling_id =
             static_cast<std::uint32_t>(c.other(0, 1007, *c.said.carrier.cell_id));
     }},
    {"scrambling_id_of_a_range",
     [](Case& c) {
         const auto id = static_cast<std::uint32_t>(c.whole(200, 230));
         c.recording.link.allocation.dmrs.scrambling_id = id;
         c.said.allocation.dmrs.scrambling_id = 40000;
         for (std::uint32_t i = 200; i <= 230; ++i)
             c.options.scrambling_ids.push_back(i);
     }},
    {"dmrs_symbols",
     [](Case& c) {
         std::vector<int>& said = c.said.allocation.dmrs.symbols;
         while (said == c.sent().allocation.dmrs.symbols)
             said = c.one_of<std::vector<int>>({{2}, {3}, {2, 11}, {3, 11}, {2, 7, 11}, {2, 5, 8, 11}});
     }},
    {"dmrs_type", [](Case& c) { c.said.allocation.dmrs.type = 3 - c.said.allocation.dmrs.type; }},
    {"swapped_iq", [](Case& c) { c.swaps_iq = true; }},
    {"swapped_bytes", [](Case& c) { c.swaps_bytes = true; }},
    {"whole_subcarriers",
     [](Case& c) {
         const double shift = c.one_of<int>({-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6}) *
                              static_cast<double>(c.said.carrier.subcarrier_spacing);
         c.recording.link.carrier.frequency_shift = shift;
     }},
    {"sign_of_frequency_shift",
     [](Case& c) {
         c.recording.link.carrier.frequency_shift = 1e3 * c.whole(200, 400);
         c.said.carrier.frequency_shift = -c.recording.link.carrier.frequency_shift;
     }},
    {"first_sample",
     [](Case& c) {
         c.recording.silence = c.whole(2000, 6000);
         c.said.carrier.first_sample = static_cast<std::uint64_t>(c.whole(100, 1000));
     }},
    {"first_sample_by_part_of_a_symbol",
     [](Case& c) {
         c.said.carrier.first_sample =
             static_cast<std::uint64_t>(c.recording.silence + c.one_of<int>({-1, 1}) * c.whole(60, 300));
     }},
    {"unknown_first_sample_and_n_scid",
     [](Case& c) {
         c.said.carrier.first_sample.reset();
         c.recording.silence = c.whole(0, 5000);
         c.said.allocation.dmrs.n_scid = 1 - c.said.allocation.dmrs.n_scid;
     }},
    {"no_phase_compensation",
     [](Case& c) {
         place_dmrs_for_f0(c);
         c.recording.link.carrier.center_frequency = 0.0;
     }},
    {"phase_compensation_unknown",
     [](Case& c) {
         place_dmrs_for_f0(c);
         const double turns =
             c.whole(20000, 100000) + std::uniform_real_distribution<double>(0.32, 0.44)(c.random);
         c.recording.link.carrier.center_frequency =
             std::round(turns * c.said.carrier.subcarrier_spacing / 1.0703125);
         c.said.carrier.center_frequency = 0.0;
     }},
    {"center_frequency",
     [](Case& c) {
         place_dmrs_for_f0(c);
         // Such that DM-RS do not take it for a frequency offset, and no multiple of 90 degrees.
         const double turns = std::uniform_real_distribution<double>(0.32, 0.44)(c.random);
         *c.said.carrier.center_frequency += std::round(turns * c.said.carrier.subcarrier_spacing / 1.07);
     }},
    {"modulation",
     [](Case& c) {
         while (c.said.modulation == c.sent().modulation)
             c.said.modulation = c.one_of<phy::Modulation>({phy::Modulation::qpsk, phy::Modulation::qam16,
                                                            phy::Modulation::qam64, phy::Modulation::qam256});
     }},
    {"port",
     [](Case& c) {
         c.recording.link.allocation.dmrs.ports = {c.whole(0, 1)};
         c.said.allocation.dmrs.ports = {1 - c.sent().allocation.dmrs.ports[0]};
     }},
    {"port_of_another_group",
     [](Case& c) {
         c.recording.link.allocation.dmrs.ports = {2};
         c.said.allocation.dmrs.ports = {0};
     }},
    {"one_layer_for_two",
     [](Case& c) {
         c.recording.link.allocation.dmrs.ports = {0, 1};
         c.said.allocation.dmrs.ports = {0};
         c.recording.antennas = 3;
     }},
    {"two_layers_for_one",
     [](Case& c) {
         c.recording.link.allocation.dmrs.ports = {0};
         c.said.allocation.dmrs.ports = {0, 1};
         c.recording.antennas = 3;
     }},
    {"cdm_groups_without_data",
     [](Case& c) {
         const int groups = c.whole(1, 2);
         c.recording.link.allocation.dmrs.cdm_groups_without_data = groups;
         c.said.allocation.dmrs.cdm_groups_without_data = 3 - groups;
     }},
    {"three_cdm_groups_without_data",
     [](Case& c) {
         c.recording.link.allocation.dmrs.type = 2;
         c.recording.link.allocation.dmrs.cdm_groups_without_data = 3;
         c.said.allocation.dmrs.type = 2;
         c.said.allocation.dmrs.cdm_groups_without_data = c.whole(1, 2);
     }},
    {"power_db",
     [](Case& c) {
         c.recording.link.allocation.dmrs.power_db = c.one_of<float>({0.0F, 4.77F, -3.0F, 1.5F});
         if (c.whole(0, 1) == 0) c.said.allocation.dmrs.power_db = 3.0F;
     }},
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamed) {
    Case drawn = draw(1000 + static_cast<unsigned>(GetParam().name.size()));
    GetParam().make(drawn);
    const phy::Diagnosis diagnosis = diagnose(drawn);
    EXPECT_EQ(difference(drawn, diagnosis), "") << about(drawn, diagnosis);
    EXPECT_NE(diagnosis.best.change, "") << GetParam().name << about(drawn, diagnosis);
}

INSTANTIATE_TEST_SUITE_P(One, Mistakes, ::testing::ValuesIn(mistakes),
                         [](const auto& test) { return test.param.name; });

TEST(Mistakes, ARightLinkHasNone) {
    const unsigned seeds = phy_test::takes_fewer_cases() ? 2 : 4;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Case drawn = draw(seed);
        drawn.recording.snr_db = drawn.whole(0, 40);
        const phy::Diagnosis diagnosis = diagnose(drawn);
        EXPECT_EQ(diagnosis.best.change, "") << about(drawn, diagnosis);
        EXPECT_TRUE(diagnosis.best.fits()) << about(drawn, diagnosis);
    }
}

TEST(Mistakes, TwoAreNotTakenForOne) {
    const unsigned pairs = phy_test::takes_fewer_cases() ? 2 : 6;
    unsigned right = 0;
    for (unsigned seed = 1; seed <= pairs; ++seed) {
        Case drawn = draw(500 + seed);
        std::string names;
        for (int i = 0; i < 2; ++i) {
            const Mistake mistake = drawn.one_of(mistakes);
            mistake.make(drawn);
            names += mistake.name + " ";
        }
        const phy::Diagnosis diagnosis = diagnose(drawn);
        const std::string different = difference(drawn, diagnosis);
        if (different.empty()) ++right;
        EXPECT_TRUE(different.empty() || !diagnosis.best.fits())
            << names << different << about(drawn, diagnosis);
    }
    RecordProperty("right", static_cast<int>(right));
}

TEST(Mistakes, NoiseShowsNoSetting) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
        Case drawn = draw(seed);
        drawn.recording.snr_db = -60.0;
        for (std::uint32_t i = 0; i < 5; ++i)
            drawn.options.scrambling_ids.push_back(i);
        const phy::Diagnosis diagnosis = diagnose(drawn);
        EXPECT_FALSE(diagnosis.best.is_found()) << about(drawn, diagnosis);
    }
}

TEST(Mistakes, AStopEndsTheSearch) {
    Case drawn = draw(1);
    drawn.recording.snr_db = -60.0;
    for (std::uint32_t i = 0; i < 1008; ++i)
        drawn.options.scrambling_ids.push_back(i);
    std::stop_source source;
    std::uint64_t steps = 0;
    drawn.options.stop = source.get_token();
    drawn.options.progress = [&](std::uint64_t done, std::uint64_t most) {
        EXPECT_LE(done, most);
        EXPECT_EQ(done, steps);
        if (++steps == 5) source.request_stop();
    };
    const phy::Diagnosis diagnosis = diagnose(drawn);
    EXPECT_TRUE(diagnosis.cancelled);
    EXPECT_LE(steps, 7U);
}

}  // namespace
