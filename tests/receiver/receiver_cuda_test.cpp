#include "phy/receiver/receiver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "demapper/signals.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/cuda/repeat_bits.hpp"
#include "receiver_cases.hpp"
#include "receiver_on_gpu.hpp"
#include "support/gpu.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::Modulation;
using phy::ReceiverConfig;
using phy::ReceiverInput;
using phy::SampleFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

constexpr ReceiverInput both_inputs[] = {ReceiverInput::samples, ReceiverInput::grid};

/// The input in a format; of integers, with the full scale that leaves 12 dB above the rms.
Bytes stored_for(ReceiverConfig& config, SampleFormat format, const std::vector<cf32>& input) {
    double power = 0.0;
    for (const cf32& sample : input)
        power += static_cast<double>(std::norm(sample)) / static_cast<double>(input.size());
    const double top = format == SampleFormat::ci8 ? 127.0 : 32767.0;
    const auto full_scale = static_cast<float>(0.25 * top / std::sqrt(power));
    config.full_scale = full_scale;
    return stored(format, input, full_scale);
}

void expect_same_as_host(const ReceiverConfig& config, phy::SymbolView input, std::uint64_t first = 0,
                         std::size_t slots_a_call = SIZE_MAX, std::size_t shift = 0) {
    phy::Receiver receiver(phy::Host(), config);
    const Received expected = receive(receiver, input, first);
    for (const InputMemory memory : input_memories) {
        const Received written =
            received_on_gpu(config, input, first, {.slots = slots_a_call, .shift = shift, .memory = memory});
        EXPECT_TRUE(written == expected)
            << difference(written, expected) << (memory == InputMemory::host ? "in the host's memory" : "");
    }
}

TEST(GpuReceiverTest, EveryModulationAndNumberOfLayers) {
    PHY_NEEDS_GPU();
    for (const std::uint64_t i : fewer_indices(4 * phy::all_modulations.size())) {
        const Modulation modulation = phy::all_modulations.at(i % phy::all_modulations.size());
        const int layers = 1 + static_cast<int>(i / phy::all_modulations.size());
        for (const ReceiverInput input : both_inputs) {
            for (const int antennas : {layers, 5}) {
                ReceiverConfig config = small_receiver(input, layers, antennas);
                config.link.modulation = modulation;
                SCOPED_TRACE(std::string(to_string(modulation)) + ", " + std::to_string(layers) +
                             " layers, " + std::to_string(antennas) + " antennas");
                expect_same_as_host(config, transmit(config, {.snr_db = 20.0}, 0, 3).input);
            }
        }
    }
}

TEST(GpuReceiverTest, EverySampleFormatAndAlignment) {
    PHY_NEEDS_GPU();
    for (const ReceiverInput input : both_inputs) {
        for (const SampleFormat format : phy::all_sample_formats) {
            ReceiverConfig config = small_receiver(input, 2, 3);
            config.link.modulation = Modulation::qam64;
            const Bytes bytes = stored_for(config, format, transmit(config, {.snr_db = 20.0}, 5, 3).input);
            for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, size_of(format)}) {
                if (input == ReceiverInput::grid && shift % size_of(format) != 0) continue;
                SCOPED_TRACE(std::string(to_string(format)) + ", shift " + std::to_string(shift));
                expect_same_as_host(config, {format, bytes}, 5, SIZE_MAX, shift);
            }
        }
    }
}

TEST(GpuReceiverTest, EverySoftBitFormatAndMethod) {
    PHY_NEEDS_GPU();
    for (const phy::SoftBitFormat format : phy::all_soft_bit_formats) {
        for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
            for (const auto equalization : {phy::Equalization::mmse, phy::Equalization::zero_forcing}) {
                ReceiverConfig config = small_receiver(ReceiverInput::grid, 3, 4);
                config.link.modulation = Modulation::qam16;
                config.format = format;
                config.llr.method = method;
                config.llr.scale = 3.0F;
                config.equalization = equalization;
                SCOPED_TRACE(std::string(to_string(format)) + ", " + std::string(to_string(method)));
                expect_same_as_host(config, transmit(config, {.snr_db = 15.0}, 0, 3).input);
            }
        }
    }
}

TEST(GpuReceiverTest, TransformPrecoding) {
    PHY_NEEDS_GPU();
    for (const int blocks : {1, 3, 15, 24}) {
        for (const ReceiverInput input : both_inputs) {
            for (const auto equalization : {phy::Equalization::mmse, phy::Equalization::zero_forcing}) {
                for (const Modulation modulation : {Modulation::pi2_bpsk, Modulation::qam256}) {
                    ReceiverConfig config = precoded_receiver(input, blocks);
                    config.equalization = equalization;
                    config.link.modulation = modulation;
                    if (blocks < 4) config.noise_variance = 0.01F;
                    SCOPED_TRACE(std::to_string(blocks) + " blocks");
                    std::vector<cf32> signal = transmit(config, {.snr_db = 20.0}, 0, 4).input;
                    const std::size_t of_slot = signal.size() / 4;
                    // A slot with erased symbols, and one of which nothing is left.
                    for (std::size_t i = of_slot; i < 2 * of_slot; i += of_slot / 9)
                        signal[i] = {0.0F, std::numeric_limits<float>::quiet_NaN()};
                    std::fill_n(signal.begin() + static_cast<std::ptrdiff_t>(2 * of_slot), of_slot, cf32());
                    expect_same_as_host(config, signal);
                }
            }
        }
    }
}

/// Runs of neighbouring slots, alone standing ones, and calls that go over the ends of frames.
TEST(GpuReceiverTest, ScheduledSlotsInCalls) {
    PHY_NEEDS_GPU();
    for (const ReceiverInput input : both_inputs) {
        for (const std::vector<int>& slots : {std::vector<int>{}, {0, 1, 2, 7, 9, 10, 19}, {13}}) {
            ReceiverConfig config = small_receiver(input, 2, 2);
            config.link.slots = slots;
            config.link.carrier.first_slot = 8;
            const std::size_t count = slots.size() == 1 ? 3 : 25;
            const std::vector<cf32> signal = transmit(config, {.snr_db = 25.0}, 1, count).input;
            for (const std::size_t slots_a_call : {1U, 2U, 7U, 25U}) {
                SCOPED_TRACE(std::to_string(slots.size()) + " slots a frame, calls of " +
                             std::to_string(slots_a_call));
                expect_same_as_host(config, signal, 1, slots_a_call);
            }
        }
    }
}

TEST(GpuReceiverTest, EveryNumerologyOffsetAndDirection) {
    PHY_NEEDS_GPU();
    for (const int spacing : {15000, 30000, 60000, 120000}) {
        ReceiverConfig config = small_receiver(ReceiverInput::samples, 1, 2);
        config.link.direction = phy::Direction::downlink;
        config.link.carrier.subcarrier_spacing = spacing;
        config.link.carrier.k0 = 6;
        config.link.carrier.frequency_shift = -12345.0;
        give_samples(config.link, 26.0e9 + 7.0);
        config.link.allocation.dmrs.type = 2;
        config.link.allocation.dmrs.length = 2;
        config.link.allocation.dmrs.symbols = {2, 3, 10, 11};
        config.link.allocation.dmrs.ports = {0, 2, 7};
        config.link.allocation.dmrs.cdm_groups_without_data = 3;
        config.antennas = 3;
        config.window_offset = 3;
        config.delay_spread = {};
        if (spacing == 15000) config.noise_variance = 0.002F;
        SCOPED_TRACE(std::to_string(spacing) + " Hz");
        const AirConfig air = {.snr_db = 25.0, .frequency_offset = 100.0, .delay = 2};
        expect_same_as_host(config, transmit(config, air, 3, 10).input, 3, 4);
    }
}

/// With an odd number of symbols a slot the rotation begins anew in each.
TEST(GpuReceiverTest, OddNumbersOfRotatedSymbols) {
    PHY_NEEDS_GPU();
    ReceiverConfig config = small_receiver(ReceiverInput::grid, 1, 2);
    config.link.modulation = Modulation::pi2_bpsk;
    config.link.allocation.reserved = {
        {.symbols = {5}, .resource_blocks = {.first = 3, .count = 1}, .subcarriers = {2}}};
    ASSERT_EQ(phy::Receiver(phy::Host(), config).symbols_per_slot() % 2, 1U);
    expect_same_as_host(config, transmit(config, {.snr_db = 8.0}, 0, 5).input, 0, 3);
}

TEST(GpuReceiverTest, ScatteredResourceBlocks) {
    PHY_NEEDS_GPU();
    ReceiverConfig config = small_receiver(ReceiverInput::grid, 2, 5);
    config.link.allocation.resource_blocks = {{.first = 11, .count = 14}, {.first = 0, .count = 3}};
    config.link.allocation.reserved = {
        {.symbols = {7}, .resource_blocks = {.first = 2, .count = 20}, .subcarriers = {1, 6}}};
    expect_same_as_host(config, transmit(config, {.snr_db = 20.0}, 0, 3).input);
}

TEST(GpuReceiverTest, InterferenceRejectionAndTimeInterpolation) {
    PHY_NEEDS_GPU();
    for (const ReceiverInput input : both_inputs) {
        for (const phy::TimeInterpolation time :
             {phy::TimeInterpolation::average, phy::TimeInterpolation::linear,
              phy::TimeInterpolation::wiener}) {
            for (const int layers : {1, 2, 4}) {
                ReceiverConfig config = small_receiver(input, layers, layers + 1);
                config.interference_rejection = true;
                config.time = time;
                if (layers == 2 && time == phy::TimeInterpolation::wiener) config.doppler_spread = 100.0F;
                SCOPED_TRACE(std::to_string(layers) + " layers, time " +
                             std::to_string(static_cast<int>(time)));
                expect_same_as_host(config, transmit(config, {.snr_db = 15.0}, 0, 3).input);
            }
        }
    }
}

TEST(GpuReceiverTest, JointDetection) {
    PHY_NEEDS_GPU();
    for (const ReceiverInput input : both_inputs) {
        for (const Modulation modulation : {Modulation::qpsk, Modulation::qam64, Modulation::qam256}) {
            for (const int antennas : {2, 4, 5}) {
                ReceiverConfig config = small_receiver(input, 2, antennas);
                config.link.modulation = modulation;
                config.joint_detection = true;
                SCOPED_TRACE(std::string(to_string(modulation)) + ", " + std::to_string(antennas) +
                             " antennas");
                const phy_test::Transmission sent = transmit(config, {.snr_db = 15.0}, 0, 3);
                expect_same_as_host(config, sent.input);
                phy::Receiver receiver(phy::Host(), config);
                const std::vector<std::int8_t> priors = phy_test::receiver_priors(receiver, 3);
                const Received expected = receive(receiver, sent.input, 0, priors);
                const Received written =
                    received_on_gpu(config, sent.input, 0, {.slots = 2, .priors = priors});
                EXPECT_TRUE(written == expected) << difference(written, expected);
            }
        }
    }
}

/// Five slots, of which the last two are not rotated: what tracking wrote of earlier slots must not stay.
void expect_same_phases_as_host(const ReceiverConfig& config, double snr_db, double step, unsigned seed) {
    phy_test::Transmission sent = transmit(config, {.snr_db = snr_db, .seed = seed}, 0, 5);
    const std::vector<cf32> still = sent.input;
    phy_test::turn(config, step, seed, sent);
    const auto rotated = static_cast<std::ptrdiff_t>(still.size() / 5 * 3);
    std::copy(still.begin() + rotated, still.end(), sent.input.begin() + rotated);
    for (const std::size_t slots_a_call : {std::size_t{2}, SIZE_MAX})
        expect_same_as_host(config, sent.input, 0, slots_a_call);
}

TEST(GpuReceiverTest, PhaseTracking) {
    PHY_NEEDS_GPU();
    const auto seed = static_cast<unsigned>(phy_test::random_seed());
    for (const ReceiverInput input : both_inputs) {
        for (const int layers : {1, 2, 3}) {
            for (const bool joint : {false, true}) {
                if (joint && layers != 2) continue;
                ReceiverConfig config = small_receiver(input, layers, 4);
                config.link.allocation.dmrs.symbols = {3};
                config.link.modulation = Modulation::qam64;
                config.phase_tracking = true;
                config.joint_detection = joint;
                SCOPED_TRACE(std::to_string(layers) + " layers, joint detection " + std::to_string(joint));
                expect_same_phases_as_host(config, 25.0, 0.05, seed);
                config.link.allocation.ptrs =
                    phy::PtrsConfig{.time_density = layers == 3 ? 2 : 1, .rnti = config.link.scrambling.rnti};
                config.interference_rejection = joint;
                expect_same_phases_as_host(config, 25.0, 0.3, seed);
            }
        }
        ReceiverConfig precoded = phy_test::precoded_receiver(input, 16);
        precoded.link.modulation = Modulation::pi2_bpsk;
        precoded.phase_tracking = true;
        expect_same_phases_as_host(precoded, 10.0, 0.1, seed);
        precoded.link.modulation = Modulation::qam16;
        precoded.link.allocation.ptrs =
            phy::PtrsConfig{.groups = 8, .samples_per_group = 4, .rnti = precoded.link.scrambling.rnti};
        expect_same_phases_as_host(precoded, 20.0, 0.3, seed);
        precoded.link.allocation.ptrs->time_density = 2;
        precoded.phase_tracking = false;
        expect_same_phases_as_host(precoded, 20.0, 0.05, seed);
    }
}

TEST(GpuReceiverTest, WhatIsNotFinite) {
    PHY_NEEDS_GPU();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const ReceiverInput input : both_inputs) {
        for (const bool rejects : {false, true}) {
            ReceiverConfig config = small_receiver(input, 2, 2);
            config.link.modulation = Modulation::qam64;
            config.interference_rejection = rejects;
            config.joint_detection = rejects;
            config.phase_tracking = rejects;
            std::vector<cf32> signal = transmit(config, {.snr_db = 20.0}, 0, 5).input;
            const std::size_t of_slot = signal.size() / 5;
            for (std::size_t i = of_slot; i < 2 * of_slot; i += 1000)
                signal[i] = i % 2000 == 0 ? cf32(nan, 1.0F) : cf32(0.0F, -infinity);
            const auto slot = [&](std::size_t i) {
                return signal.begin() + static_cast<std::ptrdiff_t>(i * of_slot);
            };
            std::fill_n(slot(2), of_slot, cf32(nan, nan));
            std::fill_n(slot(3), of_slot, cf32());
            expect_same_as_host(config, signal);
        }
    }
}

TEST(GpuReceiverTest, StrongSamplesAndWhatSpoilsPilots) {
    PHY_NEEDS_GPU();
    std::mt19937 random(22);
    for (const int layers : {1, 2, 4}) {
        ReceiverConfig config = small_receiver(ReceiverInput::samples, layers, layers == 2 ? 5 : 4);
        config.link.modulation = Modulation::qam16;
        config.link.allocation.resource_blocks = {{.first = 3, .count = layers == 1 ? 2 : 17}};
        std::vector<cf32> signal = transmit(config, {.snr_db = 30.0}, 0, 12).input;
        const std::size_t of_slot = signal.size() / 12;
        for (std::size_t slot = 1; slot < 12; ++slot) {
            // All that a sample can be, from the size of the signal to the largest number.
            const float size = std::pow(10.0F, static_cast<float>(3 * slot));
            signal[slot * of_slot + random() % of_slot] = {std::min(size, 3e38F), 0.0F};
        }
        SCOPED_TRACE(std::to_string(layers) + " layers");
        expect_same_as_host(config, signal);
    }
}

TEST(GpuReceiverTest, OnlyWhatIsWanted) {
    PHY_NEEDS_GPU();
    const ReceiverConfig config = small_receiver(ReceiverInput::samples, 2, 3);
    const std::vector<cf32> signal = transmit(config, {.snr_db = 20.0}, 0, 2).input;
    phy::Receiver receiver(phy::Host(), config);
    const Received all = receive(receiver, signal);
    for (unsigned wanted = 0; wanted < 16; ++wanted) {
        Received expected = all;
        if ((wanted & 1U) == 0) expected.llr.clear();
        if ((wanted & 2U) == 0) expected.slots.clear();
        if ((wanted & 4U) == 0) expected.symbols.clear();
        if ((wanted & 4U) == 0) expected.noise_variance.clear();
        if ((wanted & 8U) == 0) expected.channel.clear();
        for (const InputMemory memory : input_memories) {
            const Received written = received_on_gpu(config, signal, 0, {.wanted = wanted, .memory = memory});
            EXPECT_TRUE(written == expected) << wanted << ": " << difference(written, expected);
        }
    }
}

TEST(GpuReceiverTest, WholeCarrier) {
    PHY_NEEDS_GPU();
    for (const int layers : {1, 4}) {
        ReceiverConfig config = small_receiver(ReceiverInput::samples, layers, 4);
        config.link.modulation = Modulation::qam256;
        config.link.allocation.carrier_resource_blocks = 273;
        config.link.allocation.resource_blocks = {{.first = 0, .count = 273}};
        config.link.carrier.sample_rate = 122.88e6;
        SCOPED_TRACE(std::to_string(layers) + " layers");
        const std::vector<cf32> signal = transmit(config, {.snr_db = 30.0}, 0, 2).input;
        const Bytes bytes = stored_for(config, SampleFormat::ci16, signal);
        expect_same_as_host(config, {SampleFormat::ci16, bytes});
        if (takes_fewer_cases()) continue;
        // So many slots that operators share out their work otherwise.
        Bytes many;
        for (std::size_t i = 0; i < 10; ++i)
            many.insert(many.end(), bytes.begin(), bytes.end());
        expect_same_as_host(config, {SampleFormat::ci16, many});
    }
}

TEST(GpuReceiverTest, InAGraph) {
    PHY_NEEDS_GPU();
    const ReceiverConfig config = small_receiver(ReceiverInput::samples, 2, 4);
    const std::vector<cf32> signal = transmit(config, {.snr_db = 20.0}, 18, 4).input;
    const auto bytes = std::as_bytes(std::span(signal));
    phy::Receiver on_host(phy::Host(), config);
    Received expected = receive(on_host, signal, 18);
    expected.symbols.clear();
    expected.noise_variance.clear();
    expected.channel.clear();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::Receiver receiver(device, config, 4);
    DeviceBuffer<std::int8_t> llr(device, 4 * receiver.soft_bits_per_slot());
    DeviceBuffer<phy::ReceivedSlot> slots(device, 4);
    for (const InputMemory memory : input_memories) {
        const InputBytes input(device, memory, bytes.size());
        fill_async(input.span(), 0, stream);
        stream.synchronize();
        const phy::gpu::Graph graph(device, [&](cudaStream_t on) {
            receiver({SampleFormat::cf32, input.span()}, 18, {.llr = llr, .slots = slots}, on);
        });
        copy_async(input.span(), bytes, stream);
        graph(stream);
        Received written = {.llr = std::vector<std::byte>(llr.size()),
                            .slots = std::vector<phy::ReceivedSlot>(4)};
        copy_async(written.llr, phy::gpu::as_bytes(llr.span()), stream);
        copy_async(written.slots, slots, stream);
        stream.synchronize();
        EXPECT_TRUE(written == expected) << difference(written, expected);
    }
}

TEST(GpuReceiverTest, CallsTakeNoMemory) {
    PHY_NEEDS_GPU();
    const ReceiverConfig config = small_receiver(ReceiverInput::samples, 2, 4);
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::Receiver receiver(device, config, 3);
    DeviceBuffer<cf32> input(device, 3 * 4 * receiver.input_per_slot());
    DeviceBuffer<std::int8_t> llr(device, 3 * receiver.soft_bits_per_slot());
    DeviceBuffer<phy::ReceivedSlot> slots(device, 3);
    fill_async(input, 0, stream);
    const auto call = [&] { receiver(input, 0, {.llr = llr, .slots = slots}, stream); };
    call();
    stream.synchronize();
    EXPECT_TRUE(keeps_free_memory(device, call));
}

TEST(GpuReceiverTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    ReceiverConfig config = small_receiver(ReceiverInput::grid, 2, 2);
    EXPECT_THROW(phy::gpu::Receiver(device, config, 0), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::Receiver(device, config, 65536), phy::ArgumentError);
    ReceiverConfig wrong = config;
    wrong.antennas = 1;
    EXPECT_THROW(phy::gpu::Receiver(device, wrong, 1), phy::ArgumentError);
    const phy::gpu::Receiver receiver(device, config, 2);
    EXPECT_EQ(receiver.max_slots(), 2U);
    EXPECT_EQ(receiver.config(), config);
    EXPECT_EQ(receiver.device(), device);
    const std::size_t of_slot = 2 * receiver.input_per_slot();
    DeviceBuffer<cf32> input(device, 3 * of_slot + 1);
    DeviceBuffer<std::int8_t> llr(device, 3 * receiver.soft_bits_per_slot());
    DeviceBuffer<float> other(device, receiver.soft_bits_per_slot());
    DeviceBuffer<phy::ReceivedSlot> slots(device, 3);
    DeviceBuffer<cf32> symbols(device, receiver.symbols_per_slot());
    DeviceBuffer<float> noise(device, receiver.symbols_per_slot());
    const auto call = [&](std::size_t elements, const phy::gpu::ReceiverOutput& output) {
        receiver(input.first(elements), 0, output, stream);
    };
    const auto bits = [&](std::size_t count) { return llr.first(count * receiver.soft_bits_per_slot()); };
    EXPECT_THROW(call(3 * of_slot, {.llr = bits(3)}), phy::ArgumentError);
    EXPECT_THROW(call(of_slot - 1, {.llr = bits(1)}), phy::ArgumentError);
    EXPECT_THROW(call(of_slot, {.llr = bits(2)}), phy::ArgumentError);
    EXPECT_THROW(call(of_slot, {.llr = other}), phy::ArgumentError);
    EXPECT_THROW(call(of_slot, {.slots = slots}), phy::ArgumentError);
    EXPECT_THROW(call(of_slot, {.symbols = symbols}), phy::ArgumentError);
    EXPECT_THROW(call(of_slot, {.noise_variance = noise}), phy::ArgumentError);
    EXPECT_THROW(call(of_slot, {.channel = symbols.first(1)}), phy::ArgumentError);
    const auto bytes = phy::gpu::as_bytes(input.span()).subspan(4, of_slot * sizeof(cf32));
    EXPECT_THROW(receiver({SampleFormat::cf32, bytes}, 0, {.llr = bits(1)}, stream), phy::ArgumentError);
    EXPECT_NO_THROW(call(0, {}));
    EXPECT_NO_THROW(call(of_slot, {}));
    stream.synchronize();
}

/// A bit of words, the least significant being the first.
bool bit(const std::vector<std::uint32_t>& words, std::size_t i) {
    return (words.at(i / 32) >> (i % 32) & 1U) != 0;
}

TEST(RepeatBitsTest, FollowEachOther) {
    std::mt19937 random(7);
    std::vector<std::uint32_t> words(5);
    for (std::uint32_t& word : words)
        word = static_cast<std::uint32_t>(random());
    for (std::size_t bits = 1; bits <= 160; ++bits) {
        const auto some = std::span(words).first((bits + 31) / 32);
        for (const std::size_t times : {0U, 1U, 2U, 7U}) {
            const auto all = phy::gpu::detail::repeat_bits(some, bits, times);
            ASSERT_EQ(all.size(), (times * bits + 31) / 32);
            for (std::size_t i = 0; i < 32 * all.size(); ++i)
                ASSERT_EQ(bit(all, i), i < times * bits && bit(words, i % bits)) << bits << " bits, " << i;
        }
    }
}

}  // namespace
