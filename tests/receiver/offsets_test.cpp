#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "receiver/recording.hpp"
#include "support/random_seed.hpp"

namespace {

using phy_test::Recording;
using phy_test::RecordingConfig;

phy::Link link_of_256qam() {
    phy::Link link;
    link.carrier = {.subcarrier_spacing = 30000,
                    .cell_id = 1,
                    .sample_rate = 30.72e6,
                    .center_frequency = 3.5e9,
                    .first_slot = 5};
    link.modulation = phy::Modulation::qam256;
    link.allocation.carrier_resource_blocks = 78;
    link.allocation.resource_blocks = {{0, 78}};
    link.allocation.dmrs.symbols = {2};
    link.allocation.dmrs.scrambling_id = 41;
    return link;
}

phy::ReceiverConfig receiver_of(const RecordingConfig& config) {
    return {.link = config.link, .antennas = config.antennas, .delay_spread = 100e-9F};
}

/// The rms error of equalised symbols against what was sent, of all slots.
double error_of(const phy::ReceiverConfig& config, const Recording& recording,
                const std::vector<phy::cf32>& input, int slots) {
    phy::Receiver receive(phy::Host(), config);
    std::vector<phy::cf32> symbols(static_cast<std::size_t>(slots) * receive.symbols_per_slot());
    std::vector<float> noise(symbols.size());
    receive(input, 0, {.symbols = symbols, .noise_variance = noise});
    double error = 0.0;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const std::size_t slot = i / receive.symbols_per_slot();
        const phy::cf32 sent = recording.sent(static_cast<int>(slot))[i % receive.symbols_per_slot()];
        error += std::norm(std::complex<double>(symbols[i] - sent));
    }
    return std::sqrt(error / static_cast<double>(symbols.size()));
}

TEST(OffsetsTest, A256QamSlotWithOneDmrsSymbolIsReceivedAfterCorrection) {
    RecordingConfig config;
    config.link = link_of_256qam();
    config.antennas = 2;
    config.snr_db = 36.0;
    config.delays = {0, 3, 9};
    config.frequency = 300.0;
    config.silence = 1000;
    config.slots = 1;
    for (const double shift : {0.0, 1.25e6 + 77.0}) {
        SCOPED_TRACE(shift);
        config.link.carrier.frequency_shift = shift;
        const Recording recording(config);
        phy::ReceiverConfig receiver = receiver_of(config);
        const std::vector<phy::cf32> input = recording.slots(0, 1);
        EXPECT_GT(error_of(receiver, recording, input, 1), 0.3);
        const phy::Offsets offsets = phy::measure_offsets(phy::Host(), receiver, input, 0);
        EXPECT_NEAR(offsets.frequency, 300.0, 5.0);
        EXPECT_NEAR(offsets.timing, 0.0, 9 / 30.72e6);
        EXPECT_GT(offsets.coherence, 0.95);
        receiver.link.carrier.frequency_shift -= offsets.frequency;
        // Half the distance between points is 0.077.
        EXPECT_LT(error_of(receiver, recording, input, 1), 0.02);
    }
}

TEST(OffsetsTest, TimingIsThatOfTheFirstPath) {
    for (const int late : {-8, 0, 25}) {
        SCOPED_TRACE(late);
        RecordingConfig config;
        config.link = link_of_256qam();
        config.silence = 500;
        config.delays = {late};
        config.frequency = -700.0;
        const Recording recording(config);
        const auto offsets = phy::measure_offsets(phy::Host(), receiver_of(config), recording.slots(0, 2), 0);
        EXPECT_NEAR(offsets.timing * 30.72e6, late, 0.5);
        EXPECT_NEAR(offsets.frequency, -700.0, 40.0);
    }
}

TEST(OffsetsTest, LargeOffsetsAreUnambiguous) {
    for (const double frequency : {-12000.0, -2900.0, 9000.0}) {
        for (const bool has_several : {false, true}) {
            SCOPED_TRACE(testing::Message() << frequency << " Hz, several DM-RS: " << has_several);
            RecordingConfig config;
            config.link = link_of_256qam();
            if (has_several) config.link.allocation.dmrs.symbols = {2, 7, 11};
            config.silence = 500;
            config.antennas = 2;
            config.frequency = frequency;
            const Recording recording(config);
            const auto offsets =
                phy::measure_offsets(phy::Host(), receiver_of(config), recording.slots(0, 2), 0);
            EXPECT_NEAR(offsets.frequency, frequency, 25.0);
        }
    }
}

/// Strong samples and bursts in the prefixes, in the parts that these repeat, and in DM-RS.
TEST(OffsetsTest, AStrongSymbolDoesNotDecide) {
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    RecordingConfig config;
    config.link = link_of_256qam();
    config.link.carrier.sample_rate = 7.68e6;
    config.link.allocation.carrier_resource_blocks = 16;
    config.slots = 4;
    config.snr_db = 30.0;
    for (int trial = 0; trial < 40; ++trial) {
        const bool has_several = trial % 2 == 0;
        config.link.allocation.dmrs.symbols = has_several ? std::vector{2, 11} : std::vector{2};
        config.link.allocation.resource_blocks = {{2, 4 + static_cast<int>(random() % 10)}};
        config.frequency = std::uniform_real_distribution<double>(-2000.0, 2000.0)(random);
        config.seed = static_cast<unsigned>(random() % 1000);
        const Recording recording(config);
        std::vector<phy::cf32> input = recording.slots(0, 4);
        const std::size_t of_slot = input.size() / 4;
        const std::size_t length = trial % 4 < 2 ? 1 : 1 + random() % 500;
        const double amplitude =
            length == 1 ? std::pow(10.0, std::uniform_real_distribution<double>(1.0, 8.0)(random)) : 30.0;
        const std::size_t first = random() % 4 * of_slot + random() % (of_slot - length);
        for (std::size_t i = first; i < first + length; ++i)
            input[i] += phy::cf32(std::polar(amplitude, static_cast<double>(random() % 1000)));
        const auto offsets = phy::measure_offsets(phy::Host(), receiver_of(config), input, 0);
        EXPECT_NEAR(offsets.frequency, config.frequency, 150.0)
            << "trial " << trial << ", " << length << " samples of " << amplitude << " at " << first;
    }
}

TEST(OffsetsTest, DmrsRefineWhatPrefixesSay) {
    RecordingConfig config;
    config.link = link_of_256qam();
    config.link.allocation.resource_blocks = {{30, 6}};
    config.link.allocation.dmrs.symbols = {2, 11};
    config.silence = 500;
    config.antennas = 2;
    config.frequency = 432.0;
    config.snr_db = 15.0;
    double one = 0.0;
    double two = 0.0;
    for (unsigned seed = 1; seed <= 8; ++seed) {
        config.seed = seed;
        config.link.allocation.dmrs.symbols = {2, 11};
        const auto measured = [&] {
            const Recording recording(config);
            return phy::measure_offsets(phy::Host(), receiver_of(config), recording.slots(0, 2), 0);
        };
        two += std::pow(measured().frequency - config.frequency, 2.0) / 8;
        config.link.allocation.dmrs.symbols = {2};
        one += std::pow(measured().frequency - config.frequency, 2.0) / 8;
    }
    EXPECT_LT(std::sqrt(one), 150.0);
    EXPECT_LT(std::sqrt(two), 20.0);
}

TEST(OffsetsTest, NeighboursInFrequencyDoNotCount) {
    RecordingConfig config;
    config.link = link_of_256qam();
    config.link.allocation.resource_blocks = {{10, 20}};
    config.silence = 500;
    config.slots = 2;
    config.frequency = 600.0;
    config.snr_db = 30.0;
    const Recording recording(config);
    // Others, elsewhere in the carrier and with another offset.
    RecordingConfig other = config;
    other.link.allocation.resource_blocks = {{40, 38}};
    other.frequency = -2000.0;
    other.seed = 7;
    const Recording neighbour(other);
    std::vector<phy::cf32> input = recording.slots(0, 2);
    const std::vector<phy::cf32> beside = neighbour.slots(0, 2);
    for (std::size_t i = 0; i < input.size(); ++i)
        input[i] += beside[i];
    const auto offsets = phy::measure_offsets(phy::Host(), receiver_of(config), input, 0);
    EXPECT_NEAR(offsets.frequency, 600.0, 60.0);
}

TEST(OffsetsTest, GridsHaveWhatDmrsShow) {
    RecordingConfig config;
    config.link = link_of_256qam();
    config.link.allocation.dmrs.symbols = {2, 11};
    config.silence = 500;
    config.frequency = 200.0;
    const Recording recording(config);
    phy::OfdmDemodulator demodulate(phy::Host(),
                                    {.ofdm = phy::ofdm_config(config.link, 1), .window_offset = 30});
    std::vector<phy::cf32> grid(2 * demodulate.timing().slot_elements());
    const std::span<const phy::cf32> samples = recording.samples();
    demodulate(samples.subspan(500), {.first = 5, .count = 2}, grid);
    phy::ReceiverConfig receiver = receiver_of(config);
    receiver.input = phy::ReceiverInput::grid;
    EXPECT_NEAR(phy::measure_offsets(phy::Host(), receiver, grid, 0).frequency, 200.0, 5.0);
}

TEST(OffsetsTest, RefusesWhatReceiverRefuses) {
    RecordingConfig config;
    config.link = link_of_256qam();
    const phy::ReceiverConfig receiver = receiver_of(config);
    EXPECT_THROW(phy::measure_offsets(phy::Host(), receiver, std::vector<phy::cf32>(1000), 0),
                 phy::ArgumentError);
}

phy::SlotAllocation allocation_of(int blocks, std::vector<int> symbols) {
    phy::SlotAllocation allocation;
    allocation.carrier_resource_blocks = blocks;
    allocation.resource_blocks = {{0, blocks}};
    allocation.dmrs.symbols = std::move(symbols);
    return allocation;
}

TEST(LeastCoherenceTest, FallsWithPilots) {
    EXPECT_DOUBLE_EQ(phy::min_coherence(allocation_of(1, {2})), 0.7);
    EXPECT_LE(phy::min_coherence(allocation_of(16, {2})), 0.4);
    EXPECT_LE(phy::min_coherence(allocation_of(8, {2, 11})), 0.4);
    EXPECT_DOUBLE_EQ(phy::min_coherence(allocation_of(273, {2, 11})), 0.15);
}

TEST(LeastCoherenceTest, SeparatesWrongIdentitiesFromLowPower) {
    RecordingConfig config;
    config.link = link_of_256qam();
    config.link.modulation = phy::Modulation::qpsk;
    config.link.carrier.sample_rate = 7.68e6;
    config.link.allocation.carrier_resource_blocks = 16;
    config.link.allocation.resource_blocks = {{0, 16}};
    config.slots = 20;
    for (unsigned seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(seed);
        config.seed = seed;
        const auto coherences = [&](double snr_db, std::uint32_t identity) {
            config.snr_db = snr_db;
            const Recording recording(config);
            phy::ReceiverConfig receiver = receiver_of(config);
            receiver.link.allocation.dmrs.scrambling_id = identity;
            phy::Receiver receive(phy::Host(), receiver);
            std::vector<phy::ReceivedSlot> slots(20);
            receive(recording.slots(0, 20), 0, {.slots = slots});
            std::vector<double> result;
            for (const phy::ReceivedSlot& slot : slots)
                result.push_back(slot.estimate.coherence);
            return result;
        };
        const double least = phy::min_coherence(config.link.allocation);
        for (const double coherence : coherences(0.0, 41))
            EXPECT_GT(coherence, least);
        for (const double coherence : coherences(40.0, 42))
            EXPECT_LT(coherence, least);
    }
}

}  // namespace
