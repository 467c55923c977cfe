// The same bytes from every backend, number of threads and way to cut slots into calls.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/stage.hpp"
#include "receiver_cases.hpp"

namespace {

using phy::Host;
using phy::Modulation;
using phy::ReceiverConfig;
using phy::ReceiverInput;
using phy_test::Received;

constexpr std::size_t slots = 7;
constexpr std::uint64_t first = 2;

std::vector<phy::Backend> backends() {
    std::vector<phy::Backend> all;
    for (const phy::Backend& backend : phy::Backend::all())
        if (backend.kind() != phy::Backend::Kind::cuda && backend.supported()) all.push_back(backend);
    return all;
}

std::vector<ReceiverConfig> configs() {
    ReceiverConfig plain = phy_test::small_receiver(ReceiverInput::samples, 2);
    plain.link.modulation = Modulation::qam256;
    plain.link.slots = {1, 2, 5, 16};
    ReceiverConfig four = phy_test::small_receiver(ReceiverInput::samples, 4);
    four.link.carrier.subcarrier_spacing = 120000;
    phy_test::give_samples(four.link);
    four.format = phy::SoftBitFormat::float32;
    ReceiverConfig grid = phy_test::small_receiver(ReceiverInput::grid, 3, 5);
    grid.equalization = phy::Equalization::zero_forcing;
    grid.link.allocation.resource_blocks = {{.first = 11, .count = 14}, {.first = 0, .count = 3}};
    grid.link.allocation.reserved = {
        {.symbols = {7}, .resource_blocks = {.first = 2, .count = 20}, .subcarriers = {1, 6}}};
    ReceiverConfig precoded = phy_test::precoded_receiver(ReceiverInput::samples, 15);
    precoded.link.modulation = Modulation::pi2_bpsk;
    ReceiverConfig forced = phy_test::precoded_receiver(ReceiverInput::grid, 20);
    forced.equalization = phy::Equalization::zero_forcing;
    forced.link.modulation = Modulation::qam16;
    forced.format = phy::SoftBitFormat::float16;
    ReceiverConfig rejecting = phy_test::small_receiver(ReceiverInput::samples, 2, 3);
    rejecting.interference_rejection = true;
    rejecting.time = phy::TimeInterpolation::average;
    ReceiverConfig joint = phy_test::small_receiver(ReceiverInput::samples, 2, 2);
    joint.link.modulation = Modulation::qam16;
    joint.joint_detection = true;
    joint.phase_tracking = true;
    precoded.phase_tracking = true;
    ReceiverConfig with_ptrs = joint;
    with_ptrs.interference_rejection = true;
    with_ptrs.link.allocation.ptrs = phy::PtrsConfig{.rnti = with_ptrs.link.scrambling.rnti};
    forced.phase_tracking = true;
    forced.link.allocation.ptrs = phy::PtrsConfig{
        .time_density = 2, .groups = 4, .samples_per_group = 4, .rnti = forced.link.scrambling.rnti};
    return {plain, four, grid, precoded, forced, rejecting, joint, with_ptrs};
}

/// At a low signal-to-noise ratio, samples of the third slot that are not finite, and strong ones in the
/// fifth.
std::vector<phy::cf32> spoilt_input(const ReceiverConfig& config) {
    phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 12.0}, first, slots);
    if (config.phase_tracking) phy_test::turn(config, 0.1, 3, sent);
    std::vector<phy::cf32> input = std::move(sent.input);
    const std::size_t of_slot = input.size() / slots;
    for (std::size_t i = 2 * of_slot + 100; i < 3 * of_slot; i += of_slot / 5)
        input[i] = {std::numeric_limits<float>::infinity(), 0.0F};
    for (std::size_t i = 4 * of_slot + 150; i < 5 * of_slot; i += of_slot / 3)
        input[i] = {0.0F, 1e5F};
    return input;
}

Received received_on(const Host& host, const ReceiverConfig& config, phy::SymbolView input,
                     std::uint64_t from = first) {
    phy::Receiver receiver(host, config);
    return phy_test::receive(receiver, input, from);
}

TEST(ReceiverBytesTest, EveryBackendAndNumberOfThreads) {
    std::size_t number = 0;
    for (const ReceiverConfig& config : configs()) {
        const std::vector<phy::cf32> input = spoilt_input(config);
        const Received expected =
            received_on(phy::detail::host_of_exactly(1, phy::Backend::scalar()), config, input);
        for (const phy::Backend& backend : backends()) {
            for (const int threads : {1, 3, 7, 8})
                EXPECT_TRUE(received_on(phy::detail::host_of_exactly(threads, backend), config, input) ==
                            expected)
                    << "configuration " << number << ", " << backend.name() << ", " << threads << " threads";
        }
        ++number;
    }
}

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// What a receiver writes in calls of `part` slots.
Received in_parts(phy::Receiver& receiver, const std::vector<phy::cf32>& input, std::size_t part) {
    const std::size_t of_slot = input.size() / slots;
    Received all;
    for (std::size_t at = 0; at < slots; at += part) {
        const std::size_t count = std::min(part, slots - at);
        const Received some =
            phy_test::receive(receiver, std::span(input).subspan(at * of_slot, count * of_slot), first + at);
        append(all.llr, some.llr);
        append(all.slots, some.slots);
        append(all.symbols, some.symbols);
        append(all.noise_variance, some.noise_variance);
        append(all.channel, some.channel);
    }
    return all;
}

/// Three threads share the slot of a call, or each receive some of its slots.
TEST(ReceiverBytesTest, CallsMayBeCutAndRepeated) {
    for (const ReceiverConfig& config : configs()) {
        const std::vector<phy::cf32> input = spoilt_input(config);
        std::optional<Received> expected;
        for (const phy::Backend& backend : backends()) {
            phy::Receiver receiver(phy::detail::host_of_exactly(3, backend), config);
            if (!expected) expected = phy_test::receive(receiver, input, first);
            for (const std::size_t part : {1U, 3U, 4U})
                EXPECT_TRUE(in_parts(receiver, input, part) == *expected)
                    << part << " slots a call, " << backend.name();
        }
    }
}

TEST(ReceiverBytesTest, IntegersAnywhereInMemory) {
    for (ReceiverConfig config : configs()) {
        const std::vector<phy::cf32> input = phy_test::transmit(config, {.snr_db = 12.0}, first, slots).input;
        const std::vector<phy::ci16> integers = phy_test::to_integers<phy::ci16>(input, config.full_scale);
        const Received expected = received_on(Host(), config, integers);
        std::vector<std::byte> bytes(integers.size() * sizeof(phy::ci16) + 1);
        std::memcpy(bytes.data() + 1, integers.data(), bytes.size() - 1);
        const phy::SymbolView unaligned(phy::SampleFormat::ci16, std::span(bytes).subspan(1));
        EXPECT_TRUE(received_on(Host(), config, unaligned) == expected);
    }
}

/// 100 MHz, of which threads share a slot in many pieces, with samples that spoil some of them.
TEST(ReceiverBytesTest, WholeCarrier) {
    ReceiverConfig config = phy_test::small_receiver(ReceiverInput::samples, 2, 4);
    config.link.modulation = Modulation::qam256;
    config.link.allocation.carrier_resource_blocks = 273;
    config.link.allocation.resource_blocks = {{.first = 0, .count = 273}};
    config.link.carrier.sample_rate = 122.88e6;
    phy_test::Transmission sent = phy_test::transmit(config, {.snr_db = 55.0, .taps = 2}, 0, 1);
    const auto integers = phy_test::to_integers<phy::ci16>(sent.input, config.full_scale);
    const Received expected = received_on(phy::detail::host_of_exactly(1, {}), config, integers, 0);
    EXPECT_EQ(phy_test::count_errors({config.format, expected.llr}, sent.bits), 0U);
    EXPECT_TRUE(received_on(phy::detail::host_of_exactly(3, {}), config, integers, 0) == expected);
    const std::size_t of_antenna = sent.input.size() / 4;
    for (const std::size_t symbol : {1U, 4U, 7U})
        sent.input[symbol * 4384 + 1500 + symbol % 4 * of_antenna] = {std::numeric_limits<float>::quiet_NaN(),
                                                                      0.0F};
    const Received spoilt = received_on(phy::detail::host_of_exactly(1, {}), config, sent.input, 0);
    EXPECT_EQ(spoilt.slots[0].symbols.not_finite, 3U * 2U * 3276U);
    EXPECT_TRUE(received_on(phy::detail::host_of_exactly(4, {}), config, sent.input, 0) == spoilt);
}

/// A receiver's numbers are those of its operators, one after another.
TEST(ReceiverBytesTest, TheChainIsThatOfItsOperators) {
    ReceiverConfig config = phy_test::small_receiver(ReceiverInput::samples, 2);
    ASSERT_TRUE(rejects_interference(config));
    config.link.modulation = Modulation::qam64;
    config.window_offset = 5;
    const std::vector<phy::cf32> input = phy_test::transmit(config, {.snr_db = 20.0}, 3, 1).input;
    const phy::SlotAllocation& allocation = config.link.allocation;
    phy::OfdmDemodulator demodulate(
        Host(), {.ofdm = phy::ofdm_config(config.link, config.antennas), .window_offset = 5});
    phy::ChannelEstimator estimate(Host(), {.allocation = allocation,
                                            .antennas = config.antennas,
                                            .delay_spread = config.delay_spread,
                                            .time = phy::TimeInterpolation::wiener});
    phy::Equalizer equalize(Host(),
                            {.allocation = allocation,
                             .antennas = config.antennas,
                             .time_weights = {estimate.time_weights().begin(), estimate.time_weights().end()},
                             .time_sets = estimate.time_sets()});
    phy::SoftDemapper demap(Host(), {.modulation = Modulation::qam64});
    std::vector<phy::cf32> grid(static_cast<std::size_t>(config.antennas) *
                                demodulate.timing().slot_elements());
    std::vector<phy::cf32> pilots(phy::dmrs_pilot_count(allocation));
    std::vector<float> channel(estimate.channel_size());
    const int subbands = phy::subbands(config.antennas, allocation.carrier_resource_blocks);
    std::vector<phy::cf32> covariance(static_cast<std::size_t>(subbands * config.antennas * config.antennas));
    phy::SlotEstimate slot;
    Received expected = {.llr = {}, .slots = std::vector<phy::ReceivedSlot>(1)};
    expected.symbols.resize(equalize.symbols_per_slot());
    expected.noise_variance.resize(expected.symbols.size());
    expected.llr.resize(6 * expected.symbols.size());
    const phy::SoftBitSpan llr(phy::SoftBitFormat::int8, expected.llr);
    demodulate(input, {.first = 3}, grid);
    phy::dmrs_pilots(allocation, 3, pilots);
    estimate(grid, pilots, channel, std::span(&slot, 1), covariance);
    equalize(grid, channel, std::span(&slot, 1), expected.symbols, expected.noise_variance, covariance);
    std::vector<std::uint32_t> signs((expected.llr.size() + 31) / 32);
    phy::gold_sequence(config.link.scrambling.c_init(), 0, signs);
    demap(expected.symbols, expected.noise_variance, llr, 0, nullptr, signs);
    phy::SymbolMeter measure(Host(), {.modulation = Modulation::qam64});
    phy::ReceivedSlot& of_slot = expected.slots.front();
    of_slot.estimate = slot;
    measure(expected.symbols, expected.noise_variance, expected.symbols.size(),
            std::span(&of_slot.symbols, 1));
    const Received received = received_on(Host(), config, input, 3);
    expected.channel = received.channel;
    EXPECT_TRUE(received == expected);
}

TEST(ReceiveStageTest, GivesTheSameInAPipeline) {
    std::vector<std::vector<phy::Place>> places = {{Host()}, {phy::detail::host_of_exactly(2, {})}};
    for (const ReceiverConfig& given : configs()) {
        ReceiverConfig config = given;
        config.link.slots = {};
        const std::vector<phy::cf32> input = phy_test::transmit(config, {.snr_db = 12.0}, 0, slots).input;
        const Received expected = received_on(Host(), config, input, 0);
        for (const std::vector<phy::Place>& place : places) {
            phy::ReceiveStage stage({.receiver = config, .symbols = true, .channel = true});
            phy::Pipeline pipeline(place, stage, {.chunk = 3, .buffer_sets = 3});
            Received got = expected;
            const auto bytes = [](auto& values) {
                std::ranges::fill(std::as_writable_bytes(std::span(values)), std::byte{7});
                return std::as_writable_bytes(std::span(values));
            };
            phy::MemorySource source(stage.inputs(), {std::as_bytes(std::span(input))});
            phy::MemorySink sink(stage.outputs(), {bytes(got.llr), bytes(got.slots), bytes(got.symbols),
                                                   bytes(got.noise_variance), bytes(got.channel)});
            pipeline.run(source, sink);
            EXPECT_TRUE(got == expected);
        }
    }
}

TEST(ReceiveStageTest, SaysWhatItTakesAndGives) {
    const ReceiverConfig config = phy_test::small_receiver(ReceiverInput::samples, 2);
    phy::Receiver receiver(Host(), config);
    const phy::ReceiveStage plain({.receiver = config, .format = phy::SampleFormat::ci16});
    EXPECT_EQ(plain.name(), "receive");
    EXPECT_EQ(plain.inputs(), (std::vector<phy::Port>{{.name = "input", .bytes = 4 * 5 * 384 * 15 / 5 * 4}}));
    EXPECT_EQ(plain.outputs(),
              (std::vector<phy::Port>{{.name = "llr", .bytes = receiver.soft_bits_per_slot()},
                                      {.name = "slots", .bytes = sizeof(phy::ReceivedSlot)}}));
    const phy::ReceiveStage all({.receiver = config, .symbols = true, .channel = true});
    EXPECT_EQ(all.outputs().size(), 5U);
    EXPECT_EQ(all.outputs()[2], (phy::Port{.name = "symbols", .bytes = 8 * receiver.symbols_per_slot()}));
    EXPECT_EQ(all.outputs()[3],
              (phy::Port{.name = "noise_variance", .bytes = 4 * receiver.symbols_per_slot()}));
    EXPECT_EQ(all.outputs()[4], (phy::Port{.name = "channel", .bytes = 8 * receiver.channel_per_slot()}));
    ReceiverConfig wrong = config;
    wrong.antennas = 1;
    EXPECT_THROW(phy::ReceiveStage({.receiver = wrong}), phy::ArgumentError);
}

}  // namespace
