#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "digests/section.hpp"
#include "phy/receiver/receiver.hpp"
#include "receiver/chain_cases.hpp"
#include "receiver/nr_reference.hpp"
#include "receiver/receiver_cases.hpp"

/// The lines receive/ of digests.txt: recordings of some links by an independent transmitter, and the outputs
/// of receivers.
namespace phy_test {

/// Slots of a link, stored with few bits, so that the last bits of the C library's functions do not matter.
struct RecordedSlots {
    std::string name;
    phy::ReceiverConfig config = {};
    phy::SampleFormat format = phy::SampleFormat::ci16;
    Bytes input = {};
};

inline constexpr int recorded_slots = 3;

struct RecordedLink {
    const char* name;
    phy::SoftBitFormat llr;
    const char* text;
    std::optional<float> doppler_spread = {};  ///< Hz; if given: with Wiener interpolation in time
    bool interference_rejection = false;       ///< with an interferer in the recording
    bool joint_detection = false;
    bool phase_tracking = false;
};

/// From slot 9 on: slots of two subframes, and with 15 kHz of two frames.
inline const RecordedLink recorded_links[] = {
    {"layers-1", phy::SoftBitFormat::int8, R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 24, "cell_id": 77, "first_slot": 9,
                    "sample_rate": 11520000, "center_frequency": 3750000000},
        "allocation": {"rnti": 17921, "modulation": "64qam", "layers": 1, "resource_blocks": [2, 21],
            "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2, 11]}}})"},
    {"layers-4", phy::SoftBitFormat::float32, R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 15000, "resource_blocks": 25, "first_crb": 7, "k0": 6,
                    "cell_id": 500, "first_slot": 9, "sample_rate": 5760000,
                    "center_frequency": 2140000000, "frequency_shift": 30000},
        "allocation": {"rnti": 1, "codeword": 1, "modulation": "256qam", "layers": 4,
            "resource_blocks": [[14, 9], [1, 10]], "symbols": [2, 12],
            "reserved": [{"symbols": [4, 5], "resource_blocks": [0, 16], "subcarriers": [0, 3, 11]}],
            "dmrs": {"type": 2, "length": 2, "ports": [3, 0, 8, 5], "cdm_groups_without_data": 3,
                     "scrambling_id": 65535, "n_scid": 1, "symbols": [2, 3, 10, 11]}}})"},
    {"precoded", phy::SoftBitFormat::float16, R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 20, "cell_id": 1, "first_slot": 9,
                    "sample_rate": 7680000, "center_frequency": 1950000000},
        "allocation": {"rnti": 9, "modulation": "qpsk", "layers": 1, "resource_blocks": [3, 15],
            "transform_precoding": true,
            "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2, 7, 11],
                     "scrambling_id": 1007, "hopping": "group"}}})"},
    {"wiener", phy::SoftBitFormat::int8, R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 15000, "resource_blocks": 20, "cell_id": 311, "first_slot": 9,
                    "sample_rate": 3840000, "center_frequency": 806000000},
        "allocation": {"rnti": 4660, "modulation": "16qam", "layers": 2, "resource_blocks": [0, 20],
            "dmrs": {"type": 1, "ports": [0, 1], "cdm_groups_without_data": 1, "symbols": [2, 5, 8, 11]}}})",
     300.0F},
    {"interference",
     phy::SoftBitFormat::int8,
     R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 20, "cell_id": 95, "first_slot": 9,
                    "sample_rate": 7680000, "center_frequency": 3700000000},
        "allocation": {"rnti": 301, "modulation": "16qam", "layers": 2, "resource_blocks": [4, 12],
            "dmrs": {"type": 1, "ports": [0, 1], "cdm_groups_without_data": 2, "symbols": [2, 11]}}})",
     {},
     true},
    {"joint",
     phy::SoftBitFormat::int8,
     R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 20, "cell_id": 96, "first_slot": 9,
                    "sample_rate": 7680000, "center_frequency": 3700000000},
        "allocation": {"rnti": 302, "modulation": "64qam", "layers": 2, "resource_blocks": [4, 12],
            "dmrs": {"type": 1, "ports": [0, 1], "cdm_groups_without_data": 2, "symbols": [2, 11]}}})",
     {},
     false,
     true},
    {"tracked",
     phy::SoftBitFormat::int8,
     R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 20, "cell_id": 97, "first_slot": 9,
                    "sample_rate": 7680000, "center_frequency": 3700000000},
        "allocation": {"rnti": 303, "modulation": "16qam", "layers": 2, "resource_blocks": [4, 12],
            "dmrs": {"type": 1, "ports": [0, 1], "cdm_groups_without_data": 2, "symbols": [2]}}})",
     {},
     false,
     true,
     true}};

/// Noise of an interferer that reaches each antenna with another phase, 10 dB above a noise of 1.
inline AirSamples interference(const AirInterface& air, int slot, int antennas, std::mt19937_64& random) {
    const AirSamples sent = air.noise(slot, 1, random);
    AirSamples received;
    for (int antenna = 0; antenna < antennas; ++antenna)
        for (const AirComplex& sample : sent)
            received.push_back(std::sqrt(10.0) * turns(0.3 * antenna) * sample);
    return received;
}

/// A seventh of a turn from the beginning of a slot to its end, at all antennas.
inline void drift(AirSamples& samples, int antennas) {
    const std::size_t row = samples.size() / static_cast<std::size_t>(antennas);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] *= turns(static_cast<double>(i % row) / static_cast<double>(7 * row));
}

/// Both kinds of a link's recording.
inline std::vector<RecordedSlots> record_slots(const RecordedLink& given) {
    const phy::Link link = phy::parse_link(given.text);
    const int antennas = link.allocation.layers() + 1;
    std::vector<RecordedSlots> both(2);
    for (RecordedSlots& one : both) {
        one.config = {.link = link, .antennas = antennas, .format = given.llr};
        one.config.interference_rejection = given.interference_rejection;
        one.config.joint_detection = given.joint_detection;
        one.config.phase_tracking = given.phase_tracking;
        one.config.doppler_spread = given.doppler_spread;
        if (given.doppler_spread) one.config.time = phy::TimeInterpolation::wiener;
    }
    both[0].name = std::string("receive/") + given.name + "/samples/";
    both[1].name = std::string("receive/") + given.name + "/grid/";
    both[1].config.input = phy::ReceiverInput::grid;
    both[1].format = phy::SampleFormat::cf16;
    std::mt19937_64 random(0x5EED);
    for (int slot = link.carrier.first_slot; slot < link.carrier.first_slot + recorded_slots; ++slot) {
        const ChainCase sent = random_case(link, slot % slots_per_frame(link.carrier), random);
        const AirInterface air(sent.carrier);
        const AirChannel channel = draw_chain_channel(sent, antennas, AirProfile::tdl_a, random);
        AirSamples samples = add_noise(air.transmit(sent.grid, slot, channel, random),
                                       air.noise(slot, antennas, random), 1e-3);
        if (given.interference_rejection)
            samples = add_noise(samples, interference(air, slot, antennas, random), 1e-3);
        if (given.phase_tracking) drift(samples, antennas);
        const std::vector<AirComplex> grid = air.receive(samples, slot, 0.0);
        for (RecordedSlots& one : both) {
            const AirSamples& values = one.config.input == phy::ReceiverInput::grid ? grid : samples;
            const std::size_t room = phy::Receiver(phy::Host(), one.config).input_per_slot();
            const Bytes stored =
                store(values, static_cast<std::size_t>(antennas), room, one.format, recording_gain(values));
            one.input.insert(one.input.end(), stored.begin(), stored.end());
        }
    }
    return both;
}

inline void add_received(Section& section, const std::string& name, const Received& received,
                         const std::string& way) {
    section.add(name + "llr", received.llr, way);
    section.add(name + "symbols", bytes_of(received.symbols), way);
    section.add(name + "noise-variance", bytes_of(received.noise_variance), way);
    section.add(name + "channel", bytes_of(received.channel), way);
}

}  // namespace phy_test
