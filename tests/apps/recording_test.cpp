#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capture_gen/recording.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/receiver.hpp"
#include "support/fewer_cases.hpp"

namespace phy::apps {
namespace {

constexpr double two_pi = 2.0 * std::numbers::pi;

/// A narrow carrier, of which an allocation leaves some blocks and slots.
Link link_of(int spacing, Modulation modulation, int layers) {
    Link link;
    link.carrier = {.subcarrier_spacing = spacing,
                    .sample_rate = 256.0 * spacing,
                    .center_frequency = 1.9e9,
                    .first_slot = 3};
    link.allocation.carrier_resource_blocks = 15;
    link.allocation.resource_blocks = {{1, 12}};
    link.allocation.dmrs.ports.resize(static_cast<std::size_t>(layers));
    for (int layer = 0; layer < layers; ++layer)
        link.allocation.dmrs.ports[static_cast<std::size_t>(layer)] = layer;
    link.scrambling = {.rnti = 4711, .id = 5};
    link.modulation = modulation;
    link.slots = {3, 4, 8};
    return link;
}

/// All of a recording: (antennas, size()), and its codewords one after the other.
struct Recorded {
    std::vector<cf32> values;
    std::vector<std::uint8_t> codewords;
};

Recorded record(const Recording::Config& config) {
    Recording recording(config);
    const auto size = static_cast<std::size_t>(recording.size());
    Recorded all;
    all.values.resize(size * static_cast<std::size_t>(config.antennas), cf32(NAN));
    Recording::Piece piece;
    std::uint64_t next = 0;
    for (std::uint64_t index = 0; index < recording.pieces(); ++index) {
        recording.make(index, piece);
        EXPECT_EQ(piece.first, next);
        next += piece.size;
        for (std::size_t antenna = 0; antenna * piece.size < piece.values.size(); ++antenna)
            std::copy_n(piece.values.begin() + static_cast<std::ptrdiff_t>(antenna * piece.size), piece.size,
                        all.values.begin() + static_cast<std::ptrdiff_t>(antenna * size + piece.first));
        all.codewords.insert(all.codewords.end(), piece.codeword.begin(), piece.codeword.end());
    }
    EXPECT_EQ(next, recording.size());
    EXPECT_EQ(all.codewords.size(), recording.codewords() * recording.bits_per_codeword());
    return all;
}

double power_of(std::span<const cf32> values) {
    double sum = 0.0;
    for (const cf32 value : values)
        sum += std::norm(std::complex<double>(value));
    return sum / static_cast<double>(values.size());
}

/// What phy's own receiver makes of a recording.
struct Reception {
    std::size_t bit_errors = 0;
    std::vector<SlotReport> slots;
};

Reception receive(const Recording::Config& config) {
    const Recorded recorded = record(config);
    const bool is_grid = config.kind == CaptureKind::grid;
    Receiver receiver(Host(), {.link = config.link,
                               .input = is_grid ? ReceiverInput::grid : ReceiverInput::samples,
                               .antennas = config.antennas,
                               .format = SoftBitFormat::float32});
    const std::size_t size = recorded.values.size() / static_cast<std::size_t>(config.antennas);
    const SlotSchedule schedule(config.link);
    Reception reception;
    std::vector<cf32> input(static_cast<std::size_t>(config.antennas) * receiver.input_per_slot());
    std::vector<float> llr(receiver.soft_bits_per_slot());
    std::vector<ReceivedSlot> found(1);
    for (std::uint64_t n = 0; n < schedule.occasions(config.slots); ++n) {
        const std::uint64_t skipped = schedule.slot(n) - schedule.first_slot();
        std::uint64_t first = skipped * receiver.input_per_slot();
        if (!is_grid) {
            const OfdmTiming timing(ofdm_config(config.link, config.antennas));
            first = config.first_sample + timing.slot_start(schedule.slot(n)) -
                    timing.slot_start(schedule.first_slot());
        }
        const std::size_t count = std::min<std::size_t>(receiver.input_per_slot(), size - first);
        for (std::size_t antenna = 0; antenna < static_cast<std::size_t>(config.antennas); ++antenna)
            std::copy_n(recorded.values.begin() + static_cast<std::ptrdiff_t>(antenna * size + first), count,
                        input.begin() + static_cast<std::ptrdiff_t>(antenna * receiver.input_per_slot()));
        receiver(input, n, {.llr = llr, .slots = found});
        for (std::size_t bit = 0; bit < llr.size(); ++bit)
            reception.bit_errors += (llr[bit] < 0.0F) != (recorded.codewords[n * llr.size() + bit] == 1);
        reception.slots.push_back(slot_report(found[0], receiver.config(), schedule.slot(n)));
    }
    return reception;
}

std::vector<Recording::Config> received_cases() {
    std::vector<Recording::Config> all;
    const auto add = [&all](const Link& link, CaptureKind kind, int antennas, const std::string& channel) {
        all.push_back({.link = link,
                       .kind = kind,
                       .slots = 26,
                       .antennas = antennas,
                       .snr_db = 45.0,
                       .channel = parse_channel(channel),
                       .timing_offset = 4.5 / *link.carrier.sample_rate,  // of a window that may be 9 late
                       .frequency_offset = 2e-3 * link.carrier.subcarrier_spacing,
                       .seed = all.size()});
        all.back().first_sample = kind == CaptureKind::samples ? all.size() * 1000 : 0;
    };
    for (const CaptureKind kind : {CaptureKind::samples, CaptureKind::grid}) {
        int layers = 0;
        for (const Modulation modulation : all_modulations) {
            layers = layers % 4 + 1;
            for (const int spacing : {15000, 30000, 60000, 120000})
                add(link_of(spacing, modulation, layers), kind, layers, "awgn");
        }
        add(link_of(30000, Modulation::qam16, 1), kind, 2, "tdl:100");
        add(link_of(30000, Modulation::qpsk, 2), kind, 4, "tdl-c:50");
        add(link_of(15000, Modulation::qam64, 1), kind, 4, "flat");
        Link precoded = link_of(30000, Modulation::pi2_bpsk, 1);
        precoded.allocation.dmrs.transform_precoding = true;
        add(precoded, kind, 2, "tdl:100");
        Link shifted = link_of(30000, Modulation::qam256, 2);
        shifted.direction = Direction::downlink;
        shifted.carrier.k0 = 6;
        shifted.carrier.frequency_shift = 120e3;
        shifted.allocation.reserved = {{{5, 6}, {2, 3}, {1, 7}}};
        add(shifted, kind, 2, "awgn");
        add(link_of(30000, Modulation::qam16, 2), kind, 8, "taps:0:0,90:-3");
    }
    return all;
}

TEST(Recording, IsReceivedWithoutErrors) {
    for (const Recording::Config& config : phy_test::fewer_cases(received_cases())) {
        SCOPED_TRACE(std::string(to_string(config.kind)) + ' ' + to_string(config.channel) + '\n' +
                     to_json(config.link));
        const Reception reception = receive(config);
        EXPECT_EQ(reception.bit_errors, 0U);
        ASSERT_FALSE(reception.slots.empty());
        for (const SlotReport& slot : reception.slots) {
            EXPECT_GT(slot.coherence, 0.9);
            EXPECT_NEAR(slot.frequency_offset, config.frequency_offset, 0.25 * config.frequency_offset);
        }
    }
}

/// Their sum over the slots is that of independent fading, and so is that of the noise.
TEST(Recording, HasTheSnrThatItIsGiven) {
    for (const CaptureKind kind : {CaptureKind::samples, CaptureKind::grid}) {
        const Recording::Config config = {.link = link_of(30000, Modulation::qpsk, 2),
                                          .kind = kind,
                                          .slots = 20,
                                          .antennas = 2,
                                          .snr_db = 7.0};
        const Reception reception = receive(config);
        double power = 0.0;
        double noise = 0.0;
        for (const SlotReport& slot : reception.slots) {
            noise += slot.noise_variance / static_cast<double>(reception.slots.size());
            power += std::pow(10.0, slot.snr_db / 10.0) / static_cast<double>(reception.slots.size());
        }
        EXPECT_NEAR(noise, 2.0 * std::pow(10.0, -0.7), 0.06) << to_string(kind);
        EXPECT_NEAR(10.0 * std::log10(power), 7.0, 0.5) << to_string(kind);
    }
}

/// Slots without the allocation, and what is before the first slot.
TEST(Recording, IsNoiseAloneWhereNothingIsSent) {
    Recording::Config config = {.link = link_of(30000, Modulation::qpsk, 1),
                                .slots = 6,
                                .first_sample = 300'001,
                                .antennas = 2,
                                .snr_db = 20.0};
    const Recorded recorded = record(config);
    const std::size_t size = recorded.values.size() / 2;
    const OfdmTiming timing(ofdm_config(config.link, 2));
    const std::size_t third = config.first_sample + timing.slot_start(5) - timing.slot_start(3);
    for (std::size_t antenna = 0; antenna < 2; ++antenna) {
        const std::span<const cf32> values = std::span(recorded.values).subspan(antenna * size, size);
        EXPECT_NEAR(power_of(values.first(300'001)) * 256.0 / 0.01, 1.0, 0.02);
        EXPECT_NEAR(power_of(values.subspan(third, timing.slot_samples(5))) * 256.0 / 0.01, 1.0, 0.1);
        // 12 of 15 blocks, DM-RS among them.
        EXPECT_GT(power_of(values.subspan(300'001, timing.slot_samples(3))) * 256.0 / 0.01, 40.0);
    }
    config.kind = CaptureKind::grid;
    config.first_sample = 0;
    const Recorded grid = record(config);
    const std::size_t slot = 14 * 180;
    EXPECT_NEAR(power_of(std::span(grid.values).subspan(2 * slot, 3 * slot)) / 0.01, 1.0, 0.05);
    EXPECT_GT(power_of(std::span(grid.values).first(slot)), 0.5);
}

TEST(Recording, WholeSamplesOfDelayMoveTheSignal) {
    Recording::Config config = {
        .link = link_of(15000, Modulation::qpsk, 1), .slots = 3, .first_sample = 500, .snr_db = 300.0};
    const Recorded punctual = record(config);
    for (const int delay : {1, 77, 3000, -1, -499, -2000}) {
        SCOPED_TRACE(delay);
        config.timing_offset = delay / *config.link.carrier.sample_rate;
        const Recorded moved = record(config);
        ASSERT_EQ(moved.values.size(), punctual.values.size());
        EXPECT_EQ(moved.codewords, punctual.codewords);
        double difference = 0.0;
        for (std::size_t i = 0; i < moved.values.size(); ++i) {
            const auto from = static_cast<std::ptrdiff_t>(i) - delay;
            // What comes in at an end of the recording was not recorded in the other.
            if (from < 0 || from >= static_cast<std::ptrdiff_t>(punctual.values.size())) continue;
            difference = std::max(
                difference, static_cast<double>(
                                std::abs(moved.values[i] - punctual.values[static_cast<std::size_t>(from)])));
        }
        EXPECT_LT(difference, 1e-6);
    }
}

TEST(Recording, TimingOffsetsAreThoseAtTheReceiver) {
    // More than a sample apart, so that whole samples and the rest of them are told apart.
    std::vector<double> found;
    for (const double offset : {0.0, 30e-9, 130.2e-9, 400e-9, -200e-9}) {
        const Reception reception = receive({.link = link_of(30000, Modulation::qpsk, 1),
                                             .slots = 1,
                                             .first_sample = 100,
                                             .snr_db = 40.0,
                                             .timing_offset = offset});
        found.push_back(reception.slots.at(0).timing_offset - offset);
    }
    // Timing is that of a bin of the profile.
    for (const double rest : found)
        EXPECT_NEAR(rest, found[0], 40e-9);
}

TEST(Recording, FrequencyOffsetsTurnTheSignal) {
    Recording::Config config = {
        .link = link_of(30000, Modulation::qpsk, 1), .slots = 2, .first_sample = 64, .snr_db = 300.0};
    const Recorded still = record(config);
    config.frequency_offset = 1234.5;
    const Recorded turned = record(config);
    for (std::size_t i = 64; i < still.values.size(); i += 97) {
        const double angle =
            two_pi * 1234.5 / *config.link.carrier.sample_rate * (static_cast<double>(i) - 64.0);
        const std::complex<double> expected = std::complex<double>(still.values[i]) * std::polar(1.0, angle);
        EXPECT_LT(std::abs(std::complex<double>(turned.values[i]) - expected), 1e-6);
    }
}

TEST(Recording, PiecesCanBeMadeInAnyOrder) {
    for (const CaptureKind kind : {CaptureKind::samples, CaptureKind::grid}) {
        Recording::Config config = {.link = link_of(30000, Modulation::qam16, 2),
                                    .kind = kind,
                                    .slots = 7,
                                    .antennas = 3,
                                    .snr_db = 10.0,
                                    .channel = parse_channel("tdl:300"),
                                    .timing_offset = 1e-6,
                                    .seed = 9};
        Recording forwards(config);
        Recording backwards(config);
        // A longer recording begins with a shorter one.
        config.slots = 8;
        Recording longer(config);
        std::vector<Recording::Piece> pieces(forwards.pieces());
        for (std::uint64_t index = 0; index < pieces.size(); ++index)
            forwards.make(index, pieces[index]);
        Recording::Piece piece;
        for (std::uint64_t index = pieces.size(); index-- > 0;) {
            SCOPED_TRACE(index);
            backwards.make(index, piece);
            EXPECT_EQ(piece.values, pieces[index].values);
            EXPECT_EQ(piece.codeword, pieces[index].codeword);
            longer.make(index, piece);
            // The last slot's end is cut off by the delay, and there is nothing behind it.
            if (index + 2 >= pieces.size()) continue;
            EXPECT_EQ(piece.values, pieces[index].values);
        }
        config.seed = 10;
        Recording other(config);
        other.make(1, piece);
        EXPECT_NE(piece.values, pieces[1].values);
    }
}

TEST(Recording, RefusesWhatCannotBeRecorded) {
    const Link link = link_of(30000, Modulation::qpsk, 2);
    EXPECT_THROW(Recording({.link = link, .slots = 1, .antennas = 1}), ArgumentError);
    Link late = link;
    late.slots = {8};
    EXPECT_THROW(Recording({.link = late, .slots = 5, .antennas = 2}), ArgumentError);
    EXPECT_NO_THROW(Recording({.link = late, .slots = 6, .antennas = 2}));
    Link bad = link;
    bad.allocation.resource_blocks = {{10, 6}};
    EXPECT_THROW(Recording({.link = bad, .slots = 6, .antennas = 2}), ArgumentError);
    bad = link;
    bad.carrier.sample_rate = 100e3;
    EXPECT_THROW(Recording({.link = bad, .slots = 6, .antennas = 2}), ArgumentError);
    Recording::Config config = {.link = link, .slots = 6, .antennas = 2};
    const std::uint64_t end = Recording(config).size();
    config.gaps = {{.first = end - 1, .count = 10}};
    EXPECT_EQ(Recording(config).size(), end - 1);
    config.gaps = {{.first = end, .count = 10}};
    EXPECT_THROW(Recording{config}, ArgumentError);
}

}  // namespace
}  // namespace phy::apps
