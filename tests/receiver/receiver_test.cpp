#include "phy/receiver/receiver.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "transmission.hpp"

namespace {

using phy::Modulation;
using phy::Receiver;
using phy::ReceiverConfig;
using phy::ReceiverInput;
using phy_test::AirConfig;

/// What a receiver wrote.
struct Received {
    std::vector<std::int8_t> llr;
    std::vector<phy::ReceivedSlot> slots;
};

Received receive(Receiver& receiver, phy::SymbolView input, std::uint64_t first, std::size_t slots) {
    Received out = {.llr = std::vector<std::int8_t>(slots * receiver.soft_bits_per_slot()),
                    .slots = std::vector<phy::ReceivedSlot>(slots)};
    receiver(input, first, {.llr = out.llr, .slots = out.slots});
    return out;
}

TEST(Receiver, ReceivesWhatWasSent) {
    for (const ReceiverInput input : {ReceiverInput::grid, ReceiverInput::samples}) {
        for (const Modulation modulation : phy::all_modulations) {
            for (int layers = 1; layers <= 4; ++layers) {
                ReceiverConfig config = {.link = phy_test::small_link(), .input = input, .antennas = 8};
                config.link.modulation = modulation;
                config.link.allocation.dmrs.ports.clear();
                for (int v = 0; v < layers; ++v)
                    config.link.allocation.dmrs.ports.push_back(v);
                if (input == ReceiverInput::samples) phy_test::give_samples(config.link);
                Receiver receiver(phy::Host(), config);
                const auto sent = phy_test::transmit(config, {.snr_db = 50.0}, 0, 2);
                const Received received = receive(receiver, sent.input, 0, sent.slots);
                SCOPED_TRACE(std::string(to_string(modulation)) + " " + std::to_string(layers));
                EXPECT_EQ(phy_test::count_errors(received.llr, sent.bits), 0U);
            }
        }
    }
}

}  // namespace
