// What was sent is received: without bit errors at a high signal-to-noise ratio.

#include "phy/receiver/receiver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "receiver_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using phy::Modulation;
using phy::ReceiverConfig;
using phy::ReceiverInput;
using phy_test::AirConfig;
using phy_test::bit_errors;
using phy_test::small_receiver;

constexpr ReceiverInput inputs[] = {ReceiverInput::grid, ReceiverInput::samples};
constexpr AirConfig clear = {.snr_db = 50.0};

TEST(ReceiverTest, EveryModulationAndNumberOfLayers) {
    for (const ReceiverInput input : inputs) {
        for (const Modulation modulation : phy::all_modulations) {
            for (int layers = 1; layers <= 4; ++layers) {
                ReceiverConfig config = small_receiver(input, layers, 8);
                config.link.modulation = modulation;
                SCOPED_TRACE(std::string(to_string(modulation)) + ", " + std::to_string(layers) +
                             " layers, input " + std::to_string(static_cast<int>(input)));
                EXPECT_EQ(bit_errors(config, clear, 0, 1), 0U);
            }
        }
    }
}

TEST(ReceiverTest, EverySubcarrierSpacing) {
    for (const ReceiverInput input : inputs) {
        for (const int spacing : {15000, 30000, 60000, 120000}) {
            ReceiverConfig config = small_receiver(input, 2);
            config.link.modulation = Modulation::qam64;
            config.link.carrier.subcarrier_spacing = spacing;
            // Not all of these slots are equally long.
            config.link.carrier.first_slot = 10 * spacing / 15000 - 3;
            config.delay_spread = 3e-3F / static_cast<float>(spacing);
            if (input == ReceiverInput::samples) phy_test::give_samples(config.link);
            AirConfig air = clear;
            air.delay_spread = 80e-9 * 30000 / spacing;
            air.frequency_offset = 0.002 * spacing;
            SCOPED_TRACE(spacing);
            EXPECT_EQ(bit_errors(config, air, 0, 7), 0U);
        }
    }
}

TEST(ReceiverTest, SlotsWithGapsInEveryFrame) {
    for (const ReceiverInput input : inputs) {
        for (const int first_slot : {0, 3, 19}) {
            ReceiverConfig config = small_receiver(input);
            config.link.modulation = Modulation::qam16;
            config.link.slots = {17, 2, 3};
            config.link.carrier.first_slot = first_slot;
            SCOPED_TRACE(first_slot);
            EXPECT_EQ(bit_errors(config, clear, 0, 4), 0U);
            EXPECT_EQ(bit_errors(config, clear, 5, 2), 0U);
        }
    }
}

TEST(ReceiverTest, TheCarrierMayBeAnywhere) {
    for (const int k0 : {-6, 6}) {
        ReceiverConfig config = small_receiver(ReceiverInput::samples);
        config.link.modulation = Modulation::qam64;
        config.link.carrier.k0 = k0;
        config.link.carrier.frequency_shift = 123456.0;
        phy_test::give_samples(config.link, 2'123'456'789.0);
        EXPECT_EQ(bit_errors(config, clear, 4, 3), 0U);
    }
}

TEST(ReceiverTest, AllocationsOfManyShapes) {
    for (const ReceiverInput input : inputs) {
        ReceiverConfig config = small_receiver(input, 2);
        config.link.direction = phy::Direction::downlink;
        config.link.modulation = Modulation::qam64;
        phy::SlotAllocation& allocation = config.link.allocation;
        allocation.resource_blocks = {
            {.first = 14, .count = 9}, {.first = 0, .count = 3}, {.first = 5, .count = 8}};
        EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << "ranges out of order";
        allocation.reserved = {
            {.symbols = {0, 5}, .resource_blocks = {.first = 6, .count = 10}, .subcarriers = {0, 4, 8}},
            {.symbols = {13}, .resource_blocks = {.first = 0, .count = 25}, .subcarriers = {11}}};
        EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << "reserved elements";
        allocation.first_symbol = 1;
        allocation.symbols = 12;
        EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << "12 symbols";
        allocation.dmrs.type = 2;
        allocation.dmrs.cdm_groups_without_data = 1;
        EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << "type 2, data beside DM-RS";
        allocation.dmrs.length = 2;
        allocation.dmrs.cdm_groups_without_data = 3;
        allocation.dmrs.symbols = {3, 4, 9, 10};
        allocation.dmrs.ports = {0, 6};
        EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << "double symbols";
        allocation.dmrs.length = 1;
        allocation.dmrs.ports = {2, 0};
        allocation.dmrs.symbols = {3};
        EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << "a single DM-RS";
    }
}

TEST(ReceiverTest, TransformPrecoding) {
    for (const ReceiverInput input : inputs) {
        for (const int blocks : {24, 5, 1}) {
            for (const phy::Equalization equalization :
                 {phy::Equalization::mmse, phy::Equalization::zero_forcing}) {
                ReceiverConfig config = phy_test::precoded_receiver(input, blocks);
                config.equalization = equalization;
                if (blocks == 1) config.noise_variance = 1e-5F;
                for (const Modulation modulation : {Modulation::pi2_bpsk, Modulation::qam64}) {
                    config.link.modulation = modulation;
                    SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::string(to_string(modulation)));
                    EXPECT_EQ(bit_errors(config, {.snr_db = 50.0, .taps = 2}, 0, 2), 0U);
                }
            }
        }
    }
}

TEST(ReceiverTest, OffsetsOfARecording) {
    ReceiverConfig config = small_receiver(ReceiverInput::samples);
    config.link.modulation = Modulation::qam16;
    // Half of the shorter prefix of 27 samples, less the paths.
    for (const int delay : {0, 5, 11}) {
        SCOPED_TRACE(delay);
        EXPECT_EQ(bit_errors(config, {.snr_db = 40.0, .frequency_offset = 300.0, .delay = delay}, 1, 2), 0U);
    }
    config.window_offset = 0;
    EXPECT_EQ(bit_errors(config, {.snr_db = 40.0, .delay = 20}, 1, 2), 0U);
}

template <typename Integer>
void expect_integers(ReceiverConfig config) {
    const phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 45.0}, 0, 2);
    const auto integers = phy_test::to_integers<Integer>(sent.input, config.full_scale);
    phy::Receiver receiver(phy::Host(), config);
    const phy_test::Received received = phy_test::receive(receiver, integers);
    EXPECT_EQ(phy_test::count_errors({config.format, received.llr}, sent.bits), 0U);
    // Powers are of numbers, not of integers.
    EXPECT_NEAR(double{received.slots[0].estimate.channel_power}, 1.0, 0.3);
}

TEST(ReceiverTest, EverySampleFormat) {
    for (const ReceiverInput input : inputs) {
        ReceiverConfig config = small_receiver(input);
        config.link.modulation = Modulation::qam16;
        expect_integers<phy::ci16>(config);
        expect_integers<phy::ci8>(config);
        const phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 45.0}, 0, 1);
        std::vector<phy::cf16> halves;
        for (const phy::cf32& sample : sent.input)
            halves.push_back({phy::half(sample.real()), phy::half(sample.imag())});
        phy::Receiver receiver(phy::Host(), config);
        const phy_test::Received received = phy_test::receive(receiver, halves);
        EXPECT_EQ(phy_test::count_errors({config.format, received.llr}, sent.bits), 0U);
    }
}

TEST(ReceiverTest, EverySoftBitFormatAndMethod) {
    for (const phy::SoftBitFormat format : phy::all_soft_bit_formats) {
        for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
            ReceiverConfig config = small_receiver(ReceiverInput::grid, 2);
            config.link.modulation = Modulation::qam64;
            config.format = format;
            config.llr.method = method;
            config.equalization = phy::Equalization::zero_forcing;
            EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << to_string(format);
        }
    }
}

TEST(ReceiverTest, WhatIsNotGivenIsMeasured) {
    ReceiverConfig config = small_receiver(ReceiverInput::samples, 2);
    config.link.modulation = Modulation::qam16;
    config.delay_spread = {};
    EXPECT_EQ(bit_errors(config, {.snr_db = 35.0}, 0, 2), 0U);
    config.noise_variance = 2e-3F;
    EXPECT_EQ(bit_errors(config, {.snr_db = 30.0}, 0, 2), 0U);
}

/// The same soft bits, whatever else is wanted.
TEST(ReceiverTest, WritesWhatIsWanted) {
    const ReceiverConfig config = small_receiver(ReceiverInput::samples, 2);
    const phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 20.0}, 0, 2);
    phy::Receiver receiver(phy::Host(), config);
    const phy_test::Received all = phy_test::receive(receiver, sent.input);
    std::vector<std::byte> llr(all.llr.size());
    receiver(sent.input, 0, {.llr = {config.format, llr}});
    EXPECT_EQ(llr, all.llr);
    std::vector<phy::ReceivedSlot> slots(2);
    receiver(sent.input, 0, {.slots = slots});
    EXPECT_EQ(slots, all.slots);
    std::vector<phy::cf32> channel(all.channel.size());
    receiver(sent.input, 0, {.channel = channel});
    EXPECT_EQ(channel, all.channel);
    std::vector<phy::cf32> symbols(all.symbols.size());
    std::vector<float> noise(symbols.size());
    receiver(sent.input, 0, {.symbols = symbols, .noise_variance = noise});
    EXPECT_EQ(symbols, all.symbols);
    EXPECT_EQ(noise, all.noise_variance);
    receiver(sent.input, 0, {});
    receiver(phy::SymbolView(), 0, {});
}

TEST(OfdmConfigTest, IsThatOfTheLink) {
    phy::Link link = phy_test::small_link();
    link.carrier = {.subcarrier_spacing = 60000,
                    .k0 = -6,
                    .sample_rate = 30.72e6,
                    .center_frequency = 3.6e9,
                    .frequency_shift = -1.5e6};
    EXPECT_EQ(phy::ofdm_config(link, 3), (phy::OfdmConfig{.resource_blocks = 25,
                                                          .subcarrier_spacing = 60000.0,
                                                          .sample_rate = 30.72e6,
                                                          .k0 = -6,
                                                          .center_frequency = 3.6e9,
                                                          .frequency_shift = -1.5e6,
                                                          .antennas = 3}));
}

/// A channel that fades over the band: the given noise is that of the symbols.
TEST(ReceiverTest, NoiseIsThatOfPrecodedSymbols) {
    for (const phy::Equalization equalization : {phy::Equalization::mmse, phy::Equalization::zero_forcing}) {
        phy::ReceiverConfig config = phy_test::precoded_receiver(phy::ReceiverInput::grid, 24);
        config.antennas = 1;
        config.equalization = equalization;
        config.delay_spread = 200e-9F;
        const phy_test::Transmission sent =
            phy_test::transmit(config, {.snr_db = 20.0, .delay_spread = 300e-9, .seed = 5}, 0, 3);
        phy::Receiver receiver(phy::Host(), config);
        const phy_test::Received received = phy_test::receive(receiver, sent.input);
        double error = 0.0;
        double expected = 0.0;
        for (std::size_t i = 0; i < sent.symbols.size(); ++i) {
            error += std::norm(received.symbols[i] - sent.symbols[i]);
            expected += double{received.noise_variance[i]};
        }
        EXPECT_NEAR(error / expected, 1.0, 0.2);
    }
}

/// What a receiver makes of a signal beside an interferer 20 dB above the noise: |error|^2 over |symbol|^2.
double error_beside_interferer(ReceiverConfig config, bool rejects, unsigned seed) {
    config.interference_rejection = rejects;
    constexpr std::size_t slots = 2;
    phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 30.0, .seed = seed}, 0, slots);
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const std::size_t of_antenna = sent.input.size() / (slots * antennas);
    double power = 0.0;
    for (const phy::cf32 element : sent.input)
        power += static_cast<double>(std::norm(element)) / static_cast<double>(sent.input.size());
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, std::sqrt(0.5F));
    const auto number = [&] { return phy::cf32(normal(random), normal(random)); };
    std::vector<phy::cf32> channel(antennas);
    std::ranges::generate(channel, number);
    const auto amplitude = static_cast<float>(std::sqrt(0.1 * power));
    for (std::size_t slot = 0; slot < slots; ++slot) {
        for (std::size_t i = 0; i < of_antenna; ++i) {
            const phy::cf32 interference = amplitude * number();
            for (std::size_t a = 0; a < antennas; ++a)
                sent.input[(slot * antennas + a) * of_antenna + i] += channel[a] * interference;
        }
    }
    phy::Receiver receiver(phy::Host(), config);
    const phy_test::Received received = phy_test::receive(receiver, sent.input);
    double error = 0.0;
    for (std::size_t i = 0; i < sent.symbols.size(); ++i)
        error += static_cast<double>(std::norm(received.symbols[i] - sent.symbols[i]));
    return error / static_cast<double>(sent.symbols.size());
}

TEST(ReceiverTest, RejectsInterference) {
    for (const ReceiverInput input : inputs) {
        for (const int layers : {1, 2}) {
            double with = 0.0;
            double without = 0.0;
            std::string seeds;
            for (int i = 0; i < 4; ++i) {
                const unsigned seed = phy_test::random_seed();
                seeds += " " + std::to_string(seed);
                const ReceiverConfig config = small_receiver(input, layers, 4);
                with += error_beside_interferer(config, true, seed);
                without += error_beside_interferer(config, false, seed);
            }
            RecordProperty("seeds", seeds);
            EXPECT_LT(with, 0.3 * without) << layers << " layers, seeds" << seeds;
        }
    }
}

/// One DM-RS symbol and an oscillator that drifts: soft bits, symbols and noise variances of a receiver that
/// tracks the phase are nearly those without a drift.
TEST(ReceiverTest, PhaseTrackingTakesOutADrift) {
    for (const ReceiverInput input : inputs) {
        for (const bool precoded : {false, true}) {
            const unsigned seed = phy_test::random_seed();
            ReceiverConfig config =
                precoded ? phy_test::precoded_receiver(input, 16) : small_receiver(input, 2, 4);
            config.link.allocation.dmrs.symbols = {2};
            config.link.modulation = Modulation::qam64;
            const AirConfig air = {.snr_db = 32.0, .seed = seed};
            phy_test::Transmission sent = phy_test::transmit(config, air, 0, 2);
            const auto evm = [&](bool tracks) {
                config.phase_tracking = tracks;
                phy::Receiver receiver(phy::Host(), config);
                const phy::ReceivedSlot slot = phy_test::receive(receiver, sent.input).slots[0];
                const phy::SlotReport report = slot_report(slot, config, 0);
                EXPECT_TRUE(tracks || slot.estimate.tracked_symbols == 0);
                EXPECT_EQ(report.phase_error > 0.0, slot.estimate.tracked_symbols > 10);
                return report.evm;
            };
            const double still = evm(false);
            EXPECT_LT(evm(true), 1.02 * still) << "seed " << seed;
            phy_test::turn(config, 0.07, seed, sent);
            EXPECT_GT(evm(false), 1.3 * still) << "seed " << seed;
            EXPECT_LT(evm(true), 1.1 * still) << "seed " << seed;
        }
    }
}

/// PT-RS of the last of so many layers; of none: with transform precoding.
ReceiverConfig with_ptrs(ReceiverInput input, int layers) {
    ReceiverConfig config =
        layers == 0 ? phy_test::precoded_receiver(input, 16) : small_receiver(input, layers, 4);
    config.link.allocation.dmrs.symbols = {2};
    config.link.modulation = Modulation::qam64;
    config.phase_tracking = true;
    phy::PtrsConfig& ptrs = config.link.allocation.ptrs.emplace();
    ptrs.rnti = config.link.scrambling.rnti;
    if (layers > 0) {
        ptrs.ports = {layers - 1};
    } else {
        ptrs.groups = 8;
        ptrs.samples_per_group = 4;
    }
    return config;
}

/// An oscillator that decisions cannot follow: PT-RS do, with one layer and two, also of the second one.
TEST(ReceiverTest, PtrsLeadThePhaseTracker) {
    for (const ReceiverInput input : inputs) {
        for (const int layers : {0, 1, 2}) {
            const unsigned seed = phy_test::random_seed();
            ReceiverConfig config = with_ptrs(input, layers);
            const AirConfig air = {.snr_db = 25.0, .seed = seed};
            phy_test::Transmission sent = phy_test::transmit(config, air, 0, 2);
            const auto errors = [&] {
                phy::Receiver receiver(phy::Host(), config);
                const phy_test::Received received = phy_test::receive(receiver, sent.input);
                return phy_test::count_errors({config.format, received.llr}, sent.bits);
            };
            const std::size_t still = errors();
            phy_test::turn(config, 0.5, seed, sent);
            const std::size_t turned = errors();
            config.phase_tracking = false;
            EXPECT_LT(turned, still + sent.bits.size() / 500) << layers << " layers, seed " << seed;
            EXPECT_GT(errors(), sent.bits.size() / 10) << layers << " layers, seed " << seed;
        }
    }
}

/// A burst over OFDM symbols without DM-RS, too weak for an erasure: wrong soft bits weigh less.
TEST(ReceiverTest, ABurstRaisesTheNoiseOfItsSymbols) {
    for (const ReceiverInput input : inputs) {
        const unsigned seed = phy_test::random_seed();
        ReceiverConfig config = small_receiver(input, 1, 2);
        config.link.modulation = Modulation::qam16;
        config.format = phy::SoftBitFormat::float32;
        phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 25.0, .seed = seed}, 0, 1);
        std::mt19937 random(seed);
        double power = 0.0;
        for (const phy::cf32& x : sent.input)
            power += static_cast<double>(std::norm(x)) / static_cast<double>(sent.input.size());
        std::normal_distribution<float> burst(0.0F, static_cast<float>(std::sqrt(0.5 * power)));
        const std::size_t row = sent.input.size() / 2;
        for (std::size_t i = 0; i < sent.input.size(); ++i)
            if (i % row * 14 / row == 6) sent.input[i] += phy::cf32(burst(random), burst(random));
        const auto wrong = [&](bool tracks) {
            config.phase_tracking = tracks;
            phy::Receiver receiver(phy::Host(), config);
            const phy_test::Received received = phy_test::receive(receiver, sent.input);
            const auto noisy = std::ranges::count_if(received.slots[0].estimate.excess_noise,
                                                     [](float factor) { return factor > 1.0F; });
            EXPECT_TRUE(tracks ? noisy == 1 || noisy == 2 : noisy == 0) << noisy << ", seed " << seed;
            EXPECT_EQ(slot_report(received.slots[0], config, 0).excess_noise_db > 1.0, tracks);
            double weight = 0.0;
            for (std::size_t i = 0; i < sent.bits.size(); ++i) {
                float soft = 0.0F;
                std::memcpy(&soft, received.llr.data() + i * sizeof soft, sizeof soft);
                if ((soft < 0.0F) != (sent.bits[i] != 0)) weight += std::fabs(static_cast<double>(soft));
            }
            return weight;
        };
        EXPECT_LT(10.0 * wrong(true), wrong(false)) << "seed " << seed;
    }
}

/// 16QAM on as many antennas as layers, where an equaliser loses most.
TEST(ReceiverTest, JointDetectionMakesFewerErrors) {
    const unsigned seed = phy_test::random_seed();
    for (const ReceiverInput input : inputs) {
        std::mt19937 random(seed);
        std::uint64_t linear = 0;
        std::uint64_t joint = 0;
        for (int i = 0; i < 6; ++i) {
            ReceiverConfig config = small_receiver(input, 2, 2);
            config.link.modulation = Modulation::qam16;
            const AirConfig air = {
                .snr_db = 20.0, .delay_spread = 300e-9, .seed = static_cast<unsigned>(random())};
            linear += bit_errors(config, air, 0, 2);
            config.joint_detection = true;
            joint += bit_errors(config, air, 0, 2);
        }
        EXPECT_GT(linear, 1000U) << "seed " << seed;
        EXPECT_LT(joint, linear - linear / 5) << "seed " << seed;
    }
}

/// The soft bits are those of the operators.
TEST(ReceiverTest, JointDetectionIsThatOfJointDetector) {
    ReceiverConfig config = small_receiver(ReceiverInput::grid, 2, 3);
    config.link.modulation = Modulation::qam64;
    config.joint_detection = true;
    config.interference_rejection = false;
    const phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 18.0, .seed = 8}, 0, 1);
    phy::Receiver receiver(phy::Host(), config);
    const phy_test::Received received = phy_test::receive(receiver, sent.input);

    const phy::SlotAllocation& allocation = config.link.allocation;
    phy::ChannelEstimator estimate(phy::Host(), {.allocation = allocation,
                                                 .antennas = config.antennas,
                                                 .subcarrier_spacing = 30000.0,
                                                 .delay_spread = config.delay_spread,
                                                 .time = config.time});
    phy::Equalizer equalize(phy::Host(),
                            {.allocation = allocation,
                             .antennas = config.antennas,
                             .time_weights = {estimate.time_weights().begin(), estimate.time_weights().end()},
                             .time_sets = estimate.time_sets(),
                             .pairs = true});
    std::vector<phy::cf32> pilots(phy::dmrs_pilot_count(allocation));
    phy::dmrs_pilots(allocation, receiver.schedule().slots().front(), pilots);
    std::vector<float> channel(estimate.channel_size());
    std::vector<phy::SlotEstimate> slot(1);
    estimate(sent.input, pilots, channel, slot);
    std::vector<phy::cf32> symbols(equalize.symbols_per_slot());
    std::vector<float> noise(symbols.size());
    std::vector<phy::LayerPair> pairs(equalize.elements_per_slot());
    equalize(sent.input, channel, slot, symbols, noise, {}, pairs);
    std::vector<std::int8_t> llr(receiver.soft_bits_per_slot());
    std::vector<std::uint32_t> signs((llr.size() + 31) / 32);
    phy::gold_sequence(config.link.scrambling.c_init(), 0, signs);
    phy::JointDetector detect(phy::Host(), {.modulation = config.link.modulation});
    detect(pairs, llr, signs);
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(llr)), std::as_bytes(std::span(received.llr))));
    const std::vector<std::int8_t> priors = phy_test::receiver_priors(receiver, 1);
    detect(pairs, llr, signs, priors);
    const phy_test::Received again = phy_test::receive(receiver, sent.input, 0, priors);
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(llr)), std::as_bytes(std::span(again.llr))));
    EXPECT_FALSE(again.llr == received.llr);
    EXPECT_TRUE(again.slots == received.slots);
}

TEST(ReceiverTest, EveryTimeInterpolation) {
    for (const phy::TimeInterpolation time :
         {phy::TimeInterpolation::average, phy::TimeInterpolation::linear, phy::TimeInterpolation::wiener}) {
        ReceiverConfig config = small_receiver(ReceiverInput::samples);
        config.time = time;
        EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U) << static_cast<int>(time);
    }
    ReceiverConfig config = small_receiver(ReceiverInput::samples);
    config.doppler_spread = 50.0F;
    EXPECT_EQ(bit_errors(config, clear, 0, 2), 0U);
}

}  // namespace
