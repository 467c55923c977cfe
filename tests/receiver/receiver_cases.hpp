#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "phy/receiver/receiver.hpp"
#include "transmission.hpp"

/// Receivers shared by tests, and their output.
namespace phy_test {

inline void set_layers(phy::ReceiverConfig& config, int layers) {
    config.link.allocation.dmrs.ports.clear();
    for (int v = 0; v < layers; ++v)
        config.link.allocation.dmrs.ports.push_back(v);
}

inline phy::ReceiverConfig small_receiver(phy::ReceiverInput input, int layers = 1, int antennas = 4) {
    phy::ReceiverConfig config = {.link = small_link(), .input = input, .antennas = antennas};
    config.delay_spread = 100e-9F;
    set_layers(config, layers);
    if (input == phy::ReceiverInput::samples) give_samples(config.link);
    return config;
}

inline phy::ReceiverConfig precoded_receiver(phy::ReceiverInput input, int blocks) {
    phy::ReceiverConfig config = small_receiver(input);
    config.link.allocation.resource_blocks = {{.first = 1, .count = blocks}};
    config.link.allocation.dmrs.transform_precoding = true;
    return config;
}

/// The output of a receiver.
struct Received {
    std::vector<std::byte> llr = {};
    std::vector<phy::ReceivedSlot> slots = {};
    std::vector<phy::cf32> symbols = {};
    std::vector<float> noise_variance = {};
    std::vector<phy::cf32> channel = {};

    friend bool operator==(const Received& a, const Received& b) {
        return a.llr == b.llr && same_bytes(a.slots, b.slots) && same_bytes(a.symbols, b.symbols) &&
               same_bytes(a.noise_variance, b.noise_variance) && same_bytes(a.channel, b.channel);
    }

private:
    template <typename T>
    static bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
        return a.size() == b.size() &&
               (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
    }
};

inline Received receive(phy::Receiver& receiver, phy::SymbolView input, std::uint64_t first = 0,
                        std::span<const std::int8_t> priors = {}) {
    const std::size_t slots =
        input.size() / (receiver.input_per_slot() * static_cast<std::size_t>(receiver.config().antennas));
    const phy::SoftBitFormat format = receiver.config().format;
    Received out = {.llr = std::vector<std::byte>(slots * receiver.soft_bits_per_slot() * size_of(format)),
                    .slots = std::vector<phy::ReceivedSlot>(slots),
                    .symbols = std::vector<phy::cf32>(slots * receiver.symbols_per_slot()),
                    .noise_variance = std::vector<float>(slots * receiver.symbols_per_slot()),
                    .channel = std::vector<phy::cf32>(slots * receiver.channel_per_slot())};
    receiver(input, first,
             {.llr = {format, out.llr},
              .slots = out.slots,
              .symbols = out.symbols,
              .noise_variance = out.noise_variance,
              .channel = out.channel},
             priors);
    return out;
}

/// Of the soft bits of some slots.
inline std::vector<std::int8_t> receiver_priors(const phy::Receiver& receiver, std::size_t slots) {
    std::vector<std::int8_t> priors(slots * receiver.soft_bits_per_slot());
    for (std::size_t i = 0; i < priors.size(); ++i)
        priors[i] = static_cast<std::int8_t>(i * i % 255 - 127);
    return priors;
}

inline std::size_t bit_errors(const phy::ReceiverConfig& config, const AirConfig& air, std::uint64_t first,
                              std::size_t slots) {
    const Transmission sent = transmit(config, air, first, slots);
    phy::Receiver receiver(phy::Host(), config);
    const Received received = receive(receiver, sent.input, first);
    return count_errors({config.format, received.llr}, sent.bits);
}

}  // namespace phy_test
