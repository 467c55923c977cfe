// What a receiver says of a slot, against what the slot went through.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "receiver_cases.hpp"

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

/// Zeros, which is what erased symbols are, do not count, whatever their share.
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
        const double evm = phy::slot_report({.estimate = {}, .symbols = measure(symbols)}, config, 0).evm;
        for (std::size_t i = 0; i < symbols.size(); i += 3)
            symbols[i] = {};
        const SlotReport report = phy::slot_report(
            {.estimate = {}, .symbols = measure(symbols), .erasures = (symbols.size() + 2) / 3}, config, 0);
        SCOPED_TRACE(to_string(modulation));
        EXPECT_NEAR(evm, 0.01, 1e-4);
        EXPECT_NEAR(report.evm, 0.01, 1e-4);
        std::ranges::fill(symbols, phy::cf32());
        EXPECT_TRUE(std::isnan(
            phy::slot_report({.estimate = {}, .symbols = measure(symbols), .erasures = symbols.size()},
                             config, 0)
                .evm));
    }
}

/// Noise that is measured or given, and a covariance of noise that is measured.
std::vector<ReceiverConfig> receivers_by_noise(ReceiverInput input) {
    std::vector<ReceiverConfig> configs(3, small_receiver(input));
    configs[1].noise_variance = 1e-3F;
    configs[2] = small_receiver(input, 2);
    configs[2].interference_rejection = true;
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

/// Pilots that are not known leave nothing to be said of a slot.
TEST(BadSamplesTest, InDmrsEraseTheirSlot) {
    for (const ReceiverInput input : {ReceiverInput::grid, ReceiverInput::samples}) {
        for (const ReceiverConfig& config : receivers_by_noise(input)) {
            phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 40.0}, 0, 3);
            phy::Receiver receiver(phy::Host(), config);
            const Received clean = phy_test::receive(receiver, sent.input);
            const std::size_t of_slot = sent.input.size() / 3;
            const std::size_t of_symbol = of_slot / static_cast<std::size_t>(config.antennas) / 14;
            const auto dmrs = static_cast<std::size_t>(config.link.allocation.dmrs.symbols.front());
            const std::size_t pilot =
                12 * static_cast<std::size_t>(config.link.allocation.resource_blocks.front().first);
            sent.input[of_slot + dmrs * of_symbol + (input == ReceiverInput::grid ? pilot : of_symbol / 2)] =
                {0.0F, std::numeric_limits<float>::infinity()};
            const Received spoilt = phy_test::receive(receiver, sent.input);
            EXPECT_EQ(clean.slots[1].erasures, 0U);
            expect_same_slot(spoilt, clean, 0);
            expect_same_slot(spoilt, clean, 2);
            EXPECT_EQ(spoilt.slots[1].erasures, receiver.symbols_per_slot());
            const std::size_t bits = clean.llr.size() / 3;
            EXPECT_EQ(std::count(&spoilt.llr[bits], &spoilt.llr[bits] + bits, std::byte{0}),
                      static_cast<std::ptrdiff_t>(bits));
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
            EXPECT_EQ(spoilt.slots[1].erasures, expected);
            const SlotReport report = phy::slot_report(spoilt.slots[1], config, 1);
            EXPECT_EQ(report.erasures, expected);
            EXPECT_NEAR(report.evm, phy::slot_report(clean.slots[1], config, 1).evm, 1e-3);
            const auto zeros = static_cast<std::uint64_t>(
                std::count(&spoilt.llr[bits], &spoilt.llr[bits] + bits, std::byte{0}));
            EXPECT_EQ(zeros, 4 * expected);
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
                    EXPECT_EQ(received.slots[0].erasures, receiver.symbols_per_slot());
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
