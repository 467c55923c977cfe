// What a receiver says of a slot, against what the slot went through.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "receiver_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using phy::Modulation;
using phy::ReceivedSlot;
using phy::ReceiverConfig;
using phy::ReceiverInput;
using phy::SlotReport;
using phy_test::AirConfig;
using phy_test::Received;
using phy_test::small_receiver;

struct Slot {
    phy_test::Transmission sent;
    Received received;
    SlotReport report;
};

Slot receive_one(const ReceiverConfig& config, const AirConfig& air) {
    Slot slot = {.sent = phy_test::transmit(config, air, 0, 1), .received = {}, .report = {}};
    phy::Receiver receiver(phy::Host(), config);
    slot.received = phy_test::receive(receiver, slot.sent.input);
    slot.report = phy::slot_report(slot.received.slots.front(), config, 12);
    return slot;
}

TEST(SlotReportTest, NoiseAndErrorVectorAreThoseOfTheSlot) {
    for (const ReceiverInput input : {ReceiverInput::grid, ReceiverInput::samples}) {
        for (const double snr_db : {15.0, 25.0}) {
            for (const int layers : {1, 2}) {
                SCOPED_TRACE(std::to_string(snr_db) + " dB, " + std::to_string(layers) + " layers");
                const ReceiverConfig config = small_receiver(input, layers);
                const Slot slot = receive_one(config, {.snr_db = snr_db});
                EXPECT_EQ(slot.report.slot, 12U);
                EXPECT_NEAR(slot.report.snr_db, snr_db, 1.0);
                EXPECT_NEAR(slot.report.noise_variance, layers * std::pow(10.0, -snr_db / 10),
                            0.1 * layers * std::pow(10.0, -snr_db / 10));
                EXPECT_GT(slot.report.coherence, 0.8);
                EXPECT_EQ(slot.report.erasures, 0U);
                double error = 0.0;
                double expected = 0.0;
                const std::size_t count = slot.sent.symbols.size();
                for (std::size_t i = 0; i < count; ++i) {
                    error += std::norm(slot.received.symbols[i] - slot.sent.symbols[i]);
                    expected += double{slot.received.noise_variance[i]};
                }
                // Decisions of QPSK are right here.
                EXPECT_NEAR(slot.report.evm, std::sqrt(error / static_cast<double>(count)),
                            1e-4 * slot.report.evm);
                EXPECT_NEAR(error, expected, 0.15 * expected);
            }
        }
    }
}

TEST(SlotReportTest, OffsetsAreThoseOfTheRecording) {
    const ReceiverConfig config = small_receiver(ReceiverInput::samples);
    const double rate = *config.link.carrier.sample_rate;
    const Slot aligned = receive_one(config, {.snr_db = 30.0, .taps = 1});
    for (const int delay : {3, 10}) {
        for (const double frequency : {-400.0, 250.0}) {
            const Slot slot = receive_one(
                config, {.snr_db = 30.0, .frequency_offset = frequency, .delay = delay, .taps = 1});
            EXPECT_NEAR(slot.report.timing_offset - aligned.report.timing_offset, delay / rate, 0.3 / rate);
            EXPECT_NEAR(slot.report.frequency_offset, frequency, 10.0);
        }
    }
    // Of the path itself, but for the resolution of its measured profile.
    EXPECT_NEAR(aligned.report.timing_offset, 0.0, 1.0 / rate);
}

TEST(SlotReportTest, TheChannelIsThatOfTheSlot) {
    for (const int layers : {1, 2}) {
        ReceiverConfig config = small_receiver(ReceiverInput::grid, layers);
        config.link.allocation.resource_blocks = {{.first = 13, .count = 12}, {.first = 2, .count = 8}};
        const Slot slot = receive_one(config, {.snr_db = 40.0});
        ASSERT_EQ(slot.received.channel.size(), slot.sent.channel.size());
        double error = 0.0;
        double power = 0.0;
        for (std::size_t i = 0; i < slot.sent.channel.size(); ++i) {
            const std::size_t block = i % 300 / 12;
            const bool is_allocated = (block >= 2 && block < 10) || block >= 13;
            if (!is_allocated) {
                ASSERT_EQ(slot.received.channel[i], phy::cf32());
                continue;
            }
            error += std::norm(slot.received.channel[i] - slot.sent.channel[i]);
            power += std::norm(slot.sent.channel[i]);
        }
        EXPECT_LT(error, 1e-3 * power);
    }
}

/// Erased symbols, zeros without a finite N0, do not count, whatever their share.
TEST(SlotReportTest, ErasedSymbolsDoNotCount) {
    for (const Modulation modulation : phy::all_modulations) {
        ReceiverConfig config;
        config.link.modulation = modulation;
        phy::SymbolMeter measure(phy::Host(), {.modulation = modulation});
        const phy::Mapper map(phy::Host(), {.modulation = modulation});
        const std::size_t qm = bits_per_symbol(modulation);
        std::vector<std::uint8_t> bits(1024 * qm);
        for (std::size_t i = 0; i < bits.size(); ++i)
            bits[i] = static_cast<std::uint8_t>((i * 7 + i / 3) % 5 % 2);
        std::vector<phy::cf32> symbols(bits.size() / qm);
        map(bits, symbols);
        for (phy::cf32& symbol : symbols)
            symbol *= 1.01F;
        std::vector<float> noise;
        for (const phy::cf32& symbol : symbols)
            noise.push_back(1e-4F * std::norm(symbol));
        const auto report_of = [&] {
            ReceivedSlot slot;
            measure(symbols, noise, symbols.size(), std::span(&slot.symbols, 1));
            return phy::slot_report(slot, config, 0);
        };
        const double evm = report_of().evm;
        for (std::size_t i = 0; i < symbols.size(); i += 3) {
            symbols[i] = {};
            noise[i] = std::numeric_limits<float>::infinity();
        }
        const SlotReport report = report_of();
        SCOPED_TRACE(to_string(modulation));
        EXPECT_NEAR(evm, 0.01, 1e-4);
        EXPECT_NEAR(report.evm, 0.01, 1e-4);
        // The errors are 1 % of the points, and N0 is that of 1 % of the symbols.
        EXPECT_NEAR(report.error_over_noise_db, 0.0, 0.1);
        EXPECT_EQ(report.erasures, (symbols.size() + 2) / 3);
        EXPECT_EQ(report.clear_symbols, symbols.size() - report.erasures);
        std::ranges::fill(noise, std::numeric_limits<float>::quiet_NaN());
        EXPECT_TRUE(std::isnan(report_of().evm));
        EXPECT_TRUE(std::isnan(report_of().error_over_noise_db));
        EXPECT_EQ(report_of().erasures, symbols.size());
    }
}

/// Noise that is measured or given, and a covariance of noise that is measured.
std::vector<ReceiverConfig> receivers_by_noise(ReceiverInput input) {
    std::vector<ReceiverConfig> configs(4, small_receiver(input));
    configs[1].noise_variance = 1e-3F;
    configs[2] = small_receiver(input, 2);
    configs[2].interference_rejection = true;
    configs[3].interference_rejection = true;
    return configs;
}

void expect_same_slot(const Received& a, const Received& b, std::size_t slot) {
    EXPECT_EQ(a.slots[slot], b.slots[slot]);
    const auto expect_same = [&](const auto& all_a, const auto& all_b) {
        const std::size_t count = all_a.size() / a.slots.size();
        const auto of_slot = [&](const auto& all) {
            return std::as_bytes(std::span(all).subspan(slot * count, count));
        };
        EXPECT_TRUE(std::ranges::equal(of_slot(all_a), of_slot(all_b))) << "slot " << slot;
    };
    expect_same(a.llr, b.llr);
    expect_same(a.symbols, b.symbols);
    expect_same(a.noise_variance, b.noise_variance);
    expect_same(a.channel, b.channel);
}

/// Pilots that are not known leave nothing to be said of a slot, in any output.
void expect_erased(const ReceiverConfig& config, const Received& received, std::size_t slot) {
    const std::size_t slots = received.slots.size();
    const auto of_slot = [&](const auto& all) {
        return std::span(all).subspan(slot * (all.size() / slots), all.size() / slots);
    };
    EXPECT_EQ(received.slots[slot].symbols.not_finite, of_slot(received.symbols).size());
    EXPECT_TRUE(std::ranges::all_of(of_slot(received.llr), [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_TRUE(std::ranges::all_of(of_slot(received.symbols), [](phy::cf32 x) { return x == phy::cf32(); }));
    EXPECT_TRUE(std::ranges::all_of(of_slot(received.channel), [](phy::cf32 h) { return h == phy::cf32(); }));
    EXPECT_TRUE(
        std::ranges::all_of(of_slot(received.noise_variance), [](float n0) { return std::isinf(n0); }));
    const SlotReport report = phy::slot_report(received.slots[slot], config, slot);
    EXPECT_EQ(report.noise_variance, std::numeric_limits<double>::infinity());
    EXPECT_EQ(report.snr_db, -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(report.evm));
}

TEST(BadSamplesTest, InDmrsEraseTheirSlot) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr std::array bad = {
        std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 0x1p100F, -0x1p101F,
        std::numeric_limits<float>::max()};
    std::size_t next = 0;
    for (const ReceiverInput input : {ReceiverInput::grid, ReceiverInput::samples}) {
        for (ReceiverConfig config : receivers_by_noise(input)) {
            config.link.allocation.dmrs.symbols = {2, 11};
            const phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 40.0}, 0, 3);
            phy::Receiver receiver(phy::Host(), config);
            const Received clean = phy_test::receive(receiver, sent.input);
            EXPECT_EQ(clean.slots[1].symbols.not_finite, 0U);
            const std::size_t of_slot = sent.input.size() / 3;
            const std::size_t of_symbol = of_slot / static_cast<std::size_t>(config.antennas) / 14;
            const std::size_t pilot =
                12 * static_cast<std::size_t>(config.link.allocation.resource_blocks.front().first);
            for (const std::size_t dmrs : {2U, 11U}) {
                for (std::size_t i = 0; i < 3; ++i, ++next) {
                    const float value = bad[next % bad.size()];
                    SCOPED_TRACE(testing::Message() << value << " in symbol " << dmrs);
                    std::vector<phy::cf32> samples = sent.input;
                    samples[of_slot + dmrs * of_symbol +
                            (input == ReceiverInput::grid ? pilot : of_symbol / 2)] = {0.0F, value};
                    const Received spoilt = phy_test::receive(receiver, samples);
                    expect_same_slot(spoilt, clean, 0);
                    expect_same_slot(spoilt, clean, 2);
                    expect_erased(config, spoilt, 1);
                }
            }
        }
    }
}

/// All of a slot that a receiver wrote is as if the others had been received alone.
TEST(BadSamplesTest, SpoilTheirSlotAlone) {
    for (const ReceiverInput input : {ReceiverInput::grid, ReceiverInput::samples}) {
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            ReceiverConfig config = small_receiver(input);
            config.link.modulation = Modulation::qam16;
            phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 40.0}, 0, 3);
            phy::Receiver receiver(phy::Host(), config);
            const Received clean = phy_test::receive(receiver, sent.input);
            const std::size_t of_slot = sent.input.size() / 3;
            // An OFDM symbol of one antenna without a DM-RS.
            const std::size_t at = of_slot + of_slot / 4 / 14 * 6 + 50;
            sent.input[at] = {bad, 0.0F};
            const Received spoilt = phy_test::receive(receiver, sent.input);
            const std::size_t bits = clean.llr.size() / 3;
            for (const std::size_t slot : {0U, 2U}) {
                EXPECT_EQ(spoilt.slots[slot], clean.slots[slot]);
                EXPECT_TRUE(std::equal(&clean.llr[slot * bits], &clean.llr[slot * bits] + bits,
                                       &spoilt.llr[slot * bits]));
            }
            const std::uint64_t expected = input == ReceiverInput::samples ? 24 * 12 : 1;
            EXPECT_EQ(spoilt.slots[1].symbols.not_finite, expected);
            const SlotReport report = phy::slot_report(spoilt.slots[1], config, 1);
            EXPECT_EQ(report.erasures, expected);
            EXPECT_NEAR(report.evm, phy::slot_report(clean.slots[1], config, 1).evm, 1e-3);
            const auto zeros = static_cast<std::uint64_t>(
                std::count(&spoilt.llr[bits], &spoilt.llr[bits] + bits, std::byte{0}));
            EXPECT_EQ(zeros, 4 * expected);
        }
    }
}

/// A sample that channel and noise do not explain erases its OFDM symbol, and no bit of it is wrong.
TEST(BadSamplesTest, StrongOnesEraseTheirSymbol) {
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    for (int trial = 0; trial < 24; ++trial) {
        const int layers = 1 + trial % 4;
        ReceiverConfig config = small_receiver(ReceiverInput::samples, layers, layers == 4 ? 8 : 4);
        config.format = phy::SoftBitFormat::float32;
        config.link.allocation.resource_blocks = {
            {.first = static_cast<int>(random() % 10), .count = 2 + static_cast<int>(random() % 14)}};
        config.link.allocation.dmrs.symbols = {2};
        phy_test::Transmission sent = phy_test::transmit(
            config, {.snr_db = 35.0, .seed = static_cast<unsigned>(random() % 1000)}, 1, 1);
        const std::size_t of_antenna = sent.input.size() / static_cast<std::size_t>(config.antennas);
        const std::size_t of_symbol = 384 + 27;
        const std::size_t symbol = 3 + random() % 11;  // after the DM-RS
        // Inside the FFT window of that symbol, whatever the prefixes.
        const std::size_t at = random() % static_cast<std::size_t>(config.antennas) * of_antenna +
                               symbol * of_symbol + 60 + random() % 300;
        const double amplitude = std::pow(10.0, std::uniform_real_distribution<double>(2.0, 12.0)(random));
        sent.input[at] = phy::cf32(std::polar(amplitude, static_cast<double>(random() % 1000)));
        SCOPED_TRACE(testing::Message() << layers << " layers, amplitude " << amplitude << " at " << at);
        phy::Receiver receiver(phy::Host(), config);
        const Received received = phy_test::receive(receiver, sent.input, 1);
        const std::size_t erased = receiver.symbols_per_slot() / 13;
        EXPECT_EQ(received.slots[0].symbols.not_finite, erased);
        EXPECT_TRUE(std::isnan(received.slots[0].estimate.phase[symbol].real()));
        const std::size_t first = (symbol - 1) * erased;
        for (std::size_t i = 0; i < receiver.symbols_per_slot(); ++i)
            EXPECT_EQ(std::isinf(received.noise_variance[i]), i >= first && i < first + erased) << i;
        EXPECT_EQ(phy_test::count_errors({config.format, received.llr}, sent.bits), 2 * erased);
    }
}

/// Fading within a slot, few elements, noise, silence and strong neighbours are no disturbance.
TEST(BadSamplesTest, SignalsAreNeverErased) {
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto uniform = [&](double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(random);
    };
    for (int trial = 0; trial < 24; ++trial) {
        const int layers = 1 + trial % 4;
        ReceiverConfig config =
            small_receiver(ReceiverInput::samples, layers, std::max(layers, 1 << random() % 4));
        config.link.modulation = phy::all_modulations[random() % phy::all_modulations.size()];
        const int blocks = 2 + static_cast<int>(random() % 20);
        config.link.allocation.resource_blocks = {{.first = 2, .count = blocks}};
        config.link.allocation.dmrs.symbols = random() % 2 == 0 ? std::vector{2} : std::vector{2, 7, 11};
        phy_test::Transmission sent = phy_test::transmit(config,
                                                         {.snr_db = uniform(-10.0, 45.0),
                                                          .taps = 1 + static_cast<int>(random() % 5),
                                                          .seed = static_cast<unsigned>(random() % 1000)},
                                                         0, 2);
        const double fading = std::pow(10.0, uniform(-8.0, 8.0) / 20.0);
        const double neighbour = std::pow(10.0, uniform(-1.0, 2.0));
        const std::size_t row = sent.input.size() / 2 / static_cast<std::size_t>(config.antennas);
        for (std::size_t i = 0; i < sent.input.size(); ++i) {
            const double time = static_cast<double>(i % row);
            const double gain = std::pow(fading, time / static_cast<double>(row));
            // On another subcarrier, in half of the slot: a user who is stronger and comes later.
            const double turns = std::fmod(-149.0 / 384.0 * time, 1.0);
            const auto tone = std::polar(i % row > row / 2 ? neighbour : 0.0, 6.283185307179586 * turns);
            if (trial % 2 == 0) sent.input[i] = phy::cf32(gain * std::complex<double>(sent.input[i]));
            if (trial % 2 == 1 && blocks < 18) sent.input[i] += phy::cf32(tone);
        }
        SCOPED_TRACE(testing::Message() << "trial " << trial);
        phy::Receiver receiver(phy::Host(), config);
        const Received received = phy_test::receive(receiver, sent.input);
        for (const phy::ReceivedSlot& slot : received.slots) {
            for (const phy::cf32 phase : slot.estimate.phase)
                EXPECT_TRUE(std::isfinite(phase.real()));
            EXPECT_LT(slot.symbols.not_finite, receiver.symbols_per_slot() / 100);
        }
    }
}

TEST(BadSamplesTest, NothingReceivedIsErased) {
    for (const ReceiverInput input : {ReceiverInput::grid, ReceiverInput::samples}) {
        for (const bool precoded : {false, true}) {
            for (const phy::Equalization equalization :
                 {phy::Equalization::mmse, phy::Equalization::zero_forcing}) {
                ReceiverConfig config =
                    precoded ? phy_test::precoded_receiver(input, 24) : small_receiver(input, 2);
                config.equalization = equalization;
                phy::Receiver receiver(phy::Host(), config);
                const std::size_t size = 4 * receiver.input_per_slot();
                for (const float value : {0.0F, std::numeric_limits<float>::quiet_NaN()}) {
                    const Received received =
                        phy_test::receive(receiver, std::vector<phy::cf32>(size, {value, value}));
                    EXPECT_EQ(received.slots[0].symbols.not_finite, receiver.symbols_per_slot());
                    EXPECT_TRUE(
                        std::ranges::all_of(received.llr, [](auto bit) { return bit == std::byte{0}; }));
                    const SlotReport report = phy::slot_report(received.slots[0], config, 0);
                    EXPECT_TRUE(std::isnan(report.evm));
                    EXPECT_EQ(report.coherence, 0.0);
                    EXPECT_TRUE(report.snr_db < 0.0) << report.snr_db;
                }
            }
        }
    }
}

}  // namespace
