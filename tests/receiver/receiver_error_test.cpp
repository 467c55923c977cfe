// What a receiver does not take: an error that names it, and nothing is written.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "receiver_cases.hpp"

namespace {

using phy::ReceiverConfig;
using phy::ReceiverInput;
using phy_test::small_receiver;

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const phy::ArgumentError& error) {
        return error.what();
    }
    return "none";
}

void expect_message(const std::string& part, const std::function<void()>& call) {
    const std::string message = message_of(call);
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << message << "\": expected \"" << part << "\"";
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

void expect_no_receiver(const std::string& part, const std::function<void(ReceiverConfig&)>& change,
                        ReceiverInput input = ReceiverInput::samples) {
    ReceiverConfig config = small_receiver(input, 2);
    change(config);
    expect_message(part, [&] { phy::Receiver(phy::Host(), config); });
}

TEST(ReceiverErrorTest, Configurations) {
    expect_no_receiver("antennas 1", [](auto& config) { config.antennas = 1; });
    expect_no_receiver("antennas 17", [](auto& config) { config.antennas = 17; });
    expect_no_receiver("input is number 7",
                       [](auto& config) { config.input = static_cast<ReceiverInput>(7); });
    expect_no_receiver("soft-bit format",
                       [](auto& config) { config.format = static_cast<phy::SoftBitFormat>(3); });
    expect_no_receiver("equalization",
                       [](auto& config) { config.equalization = static_cast<phy::Equalization>(2); });
    expect_no_receiver("window_offset 28: expected 0 to 27", [](auto& config) { config.window_offset = 28; });
    expect_no_receiver("window_offset -1: expected 0 to 27", [](auto& config) { config.window_offset = -1; });
    for (const float value : {0.0F, -1.0F}) {
        expect_no_receiver("delay_spread", [&](auto& config) { config.delay_spread = value; });
        expect_no_receiver("noise_variance", [&](auto& config) { config.noise_variance = value; });
    }
    expect_no_receiver("llr.clip", [](auto& config) { config.llr.clip = 0; });
    expect_no_receiver("carrier.sample_rate: missing",
                       [](auto& config) { config.link.carrier.sample_rate.reset(); });
    expect_no_receiver("carrier.center_frequency: missing",
                       [](auto& config) { config.link.carrier.center_frequency.reset(); });
    expect_no_receiver("carrier.k0", [](auto& config) { config.link.carrier.k0 = 3; });
    expect_no_receiver("allocation.slots[0]", [](auto& config) { config.link.slots = {20}; });
}

TEST(ReceiverErrorTest, GridsNeedNoSampleRate) {
    ReceiverConfig config = small_receiver(ReceiverInput::grid);
    config.link.carrier.sample_rate.reset();
    config.window_offset = 1000;
    EXPECT_EQ(phy::Receiver(phy::Host(), config).input_per_slot(), 14U * 300U);
}

TEST(ReceiverErrorTest, TransformPrecodingBesideReservedElements) {
    ReceiverConfig config = phy_test::precoded_receiver(ReceiverInput::grid, 20);
    config.link.allocation.reserved = {
        {.symbols = {3}, .resource_blocks = {.first = 0, .count = 2}, .subcarriers = {0}}};
    expect_message("allocation.reserved has 1", [&] { phy::Receiver(phy::Host(), config); });
}

TEST(ReceiverErrorTest, InterferenceRejection) {
    ReceiverConfig config = small_receiver(ReceiverInput::grid, 1, 1);
    config.interference_rejection = true;
    EXPECT_NO_THROW(phy::Receiver(phy::Host(), config));
    config.antennas = 2;
    config.noise_variance = 0.1F;
    expect_message("interference_rejection with a noise_variance of 0.1",
                   [&] { phy::Receiver(phy::Host(), config); });
    config.noise_variance = {};
    config.time = phy::TimeInterpolation::linear;
    config.doppler_spread = 10.0F;
    expect_message("doppler_spread 10: expected none", [&] { phy::Receiver(phy::Host(), config); });
}

TEST(ReceiverErrorTest, JointDetection) {
    const auto refuse = [](int layers, phy::Modulation modulation, phy::Method method,
                           const std::string& message) {
        ReceiverConfig config = small_receiver(ReceiverInput::grid, layers, 4);
        config.link.modulation = modulation;
        config.llr.method = method;
        EXPECT_FALSE(phy::can_detect_jointly(config));
        config.joint_detection = true;
        EXPECT_EQ(message_of([&] { phy::Receiver(phy::Host(), config); }), "joint_detection with " + message);
    };
    refuse(1, phy::Modulation::qam16, phy::Method::max_log, "1 layer: expected 2");
    refuse(3, phy::Modulation::qam16, phy::Method::max_log, "3 layers: expected 2");
    refuse(2, phy::Modulation::bpsk, phy::Method::max_log,
           "bpsk: expected qpsk or a modulation of more bits");
    refuse(2, phy::Modulation::qam16, phy::Method::log_map, "logmap: expected maxlog");
    for (const bool joint : {false, true}) {
        ReceiverConfig config = small_receiver(ReceiverInput::grid, 2, 4);
        config.joint_detection = joint;
        phy::Receiver receiver(phy::Host(), config);
        const std::vector<phy::cf32> input(4 * receiver.input_per_slot());
        std::vector<std::byte> llr(receiver.soft_bits_per_slot() * size_of(config.format));
        const auto call = [&](std::size_t priors) {
            receiver(input, 0, {.llr = {config.format, llr}}, std::vector<std::int8_t>(priors));
        };
        const std::size_t bits = receiver.soft_bits_per_slot();
        if (joint)
            EXPECT_NO_THROW(call(bits));
        else
            expect_message("priors without joint detection", [&] { call(bits); });
        expect_message("priors has " + std::to_string(bits - 1), [&] { call(bits - 1); });
    }
}

/// A call of two slots, of which a test changes a size.
struct Arrays {
    explicit Arrays(const phy::Receiver& receiver)
        : input(2 * 4 * receiver.input_per_slot()),
          llr(2 * receiver.soft_bits_per_slot(), 1),
          slots(2),
          symbols(2 * receiver.symbols_per_slot()),
          noise(symbols.size()),
          channel(2 * receiver.channel_per_slot()) {}

    void call(phy::Receiver& receiver) {
        receiver(
            input, 0,
            {.llr = llr, .slots = slots, .symbols = symbols, .noise_variance = noise, .channel = channel});
    }

    std::vector<phy::cf32> input;
    std::vector<std::int8_t> llr;
    std::vector<phy::ReceivedSlot> slots;
    std::vector<phy::cf32> symbols;
    std::vector<float> noise;
    std::vector<phy::cf32> channel;
};

TEST(ReceiverErrorTest, Sizes) {
    phy::Receiver receiver(phy::Host(), small_receiver(ReceiverInput::samples, 2));
    const auto expect_error = [&](const std::string& part, const std::function<void(Arrays&)>& change) {
        Arrays arrays(receiver);
        change(arrays);
        expect_message(part, [&] { arrays.call(receiver); });
        EXPECT_EQ(arrays.llr[0], 1);
    };
    expect_error("input has", [](Arrays& arrays) { arrays.input.pop_back(); });
    expect_error("llr has", [](Arrays& arrays) { arrays.llr.pop_back(); });
    expect_error("slots has 1 elements: expected 2", [](Arrays& arrays) { arrays.slots.pop_back(); });
    expect_error("symbols has", [](Arrays& arrays) { arrays.symbols.pop_back(); });
    expect_error("noise_variance has", [](Arrays& arrays) { arrays.noise.pop_back(); });
    expect_error("noise_variance has 0", [](Arrays& arrays) { arrays.noise.clear(); });
    expect_error("noise_variance has", [](Arrays& arrays) { arrays.symbols.clear(); });
    expect_error("channel has", [](Arrays& arrays) { arrays.channel.pop_back(); });
    std::vector<float> wide(2 * receiver.soft_bits_per_slot());
    const Arrays arrays(receiver);
    expect_message("llr has soft bits of float32: expected int8",
                   [&] { receiver(arrays.input, 0, {.llr = wide}); });
    const std::vector<std::byte> bytes(64);
    expect_message("sample format", [&] {
        receiver(phy::SymbolView(static_cast<phy::SampleFormat>(9), bytes.data(), 8), 0, {});
    });
}

TEST(ReceiverErrorTest, SizesOfASlot) {
    ReceiverConfig config = small_receiver(ReceiverInput::samples, 2);
    config.link.carrier.subcarrier_spacing = 120000;
    phy_test::give_samples(config.link);
    config.link.slots = {1};
    config.link.modulation = phy::Modulation::qam64;
    const phy::Receiver receiver(phy::Host(), config);
    // The longest slot, although this one is shorter: 14 symbols of 384 + 27 samples, and 24 more in its
    // first.
    EXPECT_EQ(receiver.input_per_slot(), 14U * 411U + 24U);
    EXPECT_EQ(receiver.symbols_per_slot(), 2U * 12U * 24U * 12U);
    EXPECT_EQ(receiver.soft_bits_per_slot(), 6U * receiver.symbols_per_slot());
    EXPECT_EQ(receiver.channel_per_slot(), 4U * 2U * 300U);
    EXPECT_EQ(receiver.schedule().slot(0), 1U);
    EXPECT_EQ(receiver.host().threads(), 1);
    EXPECT_EQ(receiver.config(), config);
}

}  // namespace
