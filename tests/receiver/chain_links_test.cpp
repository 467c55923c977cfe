#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>
#include <string>

#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/receiver.hpp"
#include "receiver/chain_cases.hpp"
#include "receiver/nr_reference.hpp"
#include "support/fewer_cases.hpp"

/// Links that Sionna has no transmitter for, PDSCH and PUSCH with transform precoding, from their text form
/// to soft bits, with a transmitter of the tests.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

constexpr unsigned links_seed = 38;

struct LinkCase {
    const char* name;
    int slot;                       ///< in the frame
    std::vector<int> dmrs_symbols;  ///< that the link has to come to
    const char* link;
};

const LinkCase downlinks[] = {
    {"defaults_of_the_cell", 7, {2, 11}, R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 24, "cell_id": 1007,
                    "sample_rate": 11520000, "center_frequency": 3750000000},
        "allocation": {"rnti": 65535, "modulation": "qpsk", "layers": 1, "resource_blocks": [0, 24],
            "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "mapping_type": "A",
                     "typeA_position": 2, "additional_positions": 1}}})"},
    {"common_blocks_and_gaps", 3, {3, 7, 11}, R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 15000, "resource_blocks": 52, "first_crb": 33, "k0": -6,
                    "cell_id": 5, "sample_rate": 15360000, "center_frequency": 2140000000, "first_slot": 3},
        "allocation": {"rnti": 4660, "modulation": "64qam", "layers": 2,
            "resource_blocks": [[40, 8], [4, 12], [20, 10]], "symbols": [2, 12], "slots": [3],
            "reserved": [{"symbols": [4, 5, 6], "resource_blocks": [0, 22], "subcarriers": [0, 3, 11]},
                         {"symbols": [3], "resource_blocks": [42, 3], "subcarriers": [4, 5]}],
            "dmrs": {"type": 2, "ports": [0, 1], "cdm_groups_without_data": 1, "mapping_type": "A",
                     "typeA_position": 3, "additional_positions": 2}}})"},
    {"double_of_type_2", 39, {2, 3, 10, 11}, R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 60000, "resource_blocks": 40, "first_crb": 7, "k0": 6,
                    "cell_id": 500, "sample_rate": 38400000,
                    "center_frequency": 3800015000, "frequency_shift": 300000},
        "allocation": {"rnti": 1, "scrambling_id": 1023, "codeword": 1, "modulation": "256qam", "layers": 4,
            "resource_blocks": [3, 30], "slots": [0, 17, 39],
            "dmrs": {"type": 2, "length": 2, "ports": [3, 0, 8, 5], "cdm_groups_without_data": 3,
                     "scrambling_id": 65535, "n_scid": 1, "mapping_type": "A", "typeA_position": 2,
                     "additional_positions": 1}}})"},
    {"mapping_type_B", 61, {3, 7}, R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 120000, "resource_blocks": 32, "cell_id": 77,
                    "sample_rate": 61440000, "center_frequency": 28000100000},
        "allocation": {"rnti": 17921, "modulation": "1024qam", "layers": 1, "resource_blocks": [0, 32],
            "symbols": [3, 7],
            "dmrs": {"type": 1, "ports": [2], "cdm_groups_without_data": 2, "mapping_type": "B",
                     "additional_positions": 1, "power_db": 6}}})"},
    {"system_information", 2, {2, 7, 11}, R"({"direction": "downlink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 60, "first_crb": 100, "cell_id": 321,
                    "sample_rate": 30720000, "center_frequency": 0},
        "allocation": {"rnti": 65535, "modulation": "16qam", "layers": 1, "resource_blocks": [12, 48],
            "symbols": [2, 12],
            "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2, 7, 11],
                     "reference_crb": 112}}})"},
};

const LinkCase precoded[] = {
    {"pi2_bpsk", 4, {2, 11}, R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 51, "first_crb": 11, "cell_id": 31,
                    "sample_rate": 23040000, "center_frequency": 3500000000},
        "allocation": {"rnti": 9, "modulation": "pi2-bpsk", "layers": 1, "resource_blocks": [9, 25],
            "transform_precoding": true,
            "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "mapping_type": "A",
                     "typeA_position": 2, "additional_positions": 1}}})"},
    {"group_hopping", 9, {2, 7, 11}, R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 15000, "resource_blocks": 50, "cell_id": 1,
                    "sample_rate": 15360000, "center_frequency": 1950000000, "frequency_shift": -100000},
        "allocation": {"rnti": 9, "scrambling_id": 200, "modulation": "64qam", "layers": 1,
            "resource_blocks": [2, 45], "transform_precoding": true,
            "dmrs": {"type": 1, "ports": [3], "cdm_groups_without_data": 2, "mapping_type": "A",
                     "typeA_position": 2, "additional_positions": 2, "scrambling_id": 1007,
                     "hopping": "group"}}})"},
    {"sequence_hopping", 13, {0, 1, 9, 10}, R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 32, "cell_id": 44,
                    "sample_rate": 15360000, "center_frequency": 3300030000},
        "allocation": {"rnti": 5, "modulation": "256qam", "layers": 1, "resource_blocks": [0, 32],
            "transform_precoding": true,
            "dmrs": {"type": 1, "length": 2, "ports": [5], "cdm_groups_without_data": 2, "mapping_type": "B",
                     "additional_positions": 1, "scrambling_id": 700, "hopping": "sequence"}}})"},
};

/// The precoded links with PT-RS of all numbers of groups and samples, and all n_RNTI that matter.
std::vector<phy::Link> precoded_with_ptrs() {
    std::vector<phy::Link> links;
    constexpr int sizes[][2] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {8, 4}};
    for (const LinkCase& given : precoded) {
        for (std::size_t i = 0; i < std::size(sizes); ++i) {
            phy::Link link = phy::parse_link(given.link);
            link.slots = {given.slot};
            link.scrambling.rnti += static_cast<std::uint32_t>(i + links.size() / std::size(sizes));
            phy::PtrsConfig& ptrs = link.allocation.ptrs.emplace();
            ptrs.groups = sizes[i][0];
            ptrs.samples_per_group = sizes[i][1];
            ptrs.time_density = i == 1 ? 2 : 1;
            ptrs.rnti = link.scrambling.rnti;
            if (i == 4) ptrs.power_db = 3.0F;
            links.push_back(link);
        }
    }
    return links;
}

/// A recording of the slot of a case.
struct Recording {
    ChainCase sent;
    AirSamples samples;
    int antennas = 0;
};

void turn_symbols(ChainCase& sent, std::mt19937_64& random) {
    std::uniform_real_distribution<double> phase(-std::numbers::pi, std::numbers::pi);
    const std::size_t subcarriers = sent.carrier.subcarriers();
    for (std::size_t row = 0; row < sent.grid.size() / subcarriers; ++row) {
        const AirComplex turn = std::polar(1.0, phase(random));
        if (std::ranges::count(sent.link.allocation.dmrs.symbols, static_cast<int>(row % 14)) != 0) continue;
        for (std::size_t k = 0; k < subcarriers; ++k)
            sent.grid[row * subcarriers + k] *= turn;
    }
}

/// turns: the data of each OFDM symbol by any phase.
Recording record(const phy::Link& link, int slot, std::mt19937_64& random, bool turns = false) {
    Recording made;
    made.sent = random_case(link, slot, random);
    if (turns) turn_symbols(made.sent, random);
    made.antennas = std::max(4, link.allocation.layers() + 4);
    const AirInterface air(made.sent.carrier);
    const AirChannel channel = draw_chain_channel(made.sent, made.antennas, AirProfile::tdl_a, random);
    made.samples = add_noise(air.transmit(made.sent.grid, slot, channel, random),
                             air.noise(slot, made.antennas, random), 1e-5);
    return made;
}

Recording record(const LinkCase& given, std::mt19937_64& random) {
    const phy::Link link = phy::parse_link(given.link);
    EXPECT_EQ(link.allocation.dmrs.symbols, given.dmrs_symbols);
    return record(link, given.slot, random);
}

struct Outcome {
    double bit_error_rate = 1.0;
    phy::SlotReport report;
};

/// What a receiver makes of the recording that goes by a link of its own.
Outcome receive(const Recording& recording, phy::Link link, int slot) {
    link.slots = {slot};
    link.carrier.first_slot = 0;
    const phy::ReceiverConfig config = {.link = link,
                                        .antennas = recording.antennas,
                                        .format = phy::SoftBitFormat::float32,
                                        .phase_tracking = link.allocation.ptrs.has_value()};
    phy::Receiver receiver(phy::Host(), config);
    const auto stored = store(recording.samples, static_cast<std::size_t>(recording.antennas),
                              receiver.input_per_slot(), phy::SampleFormat::cf32, 1.0);
    std::vector<float> llr(receiver.soft_bits_per_slot());
    std::vector<phy::ReceivedSlot> received(1);
    receiver({phy::SampleFormat::cf32, std::span(stored)}, 0, {.llr = llr, .slots = received});
    Outcome outcome;
    outcome.report = phy::slot_report(received[0], config, static_cast<std::uint64_t>(slot));
    EXPECT_EQ(llr.size(), recording.sent.codeword.size());
    if (llr.size() != recording.sent.codeword.size()) return outcome;
    outcome.bit_error_rate =
        static_cast<double>(bit_errors(llr, recording.sent.codeword)) / static_cast<double>(llr.size());
    return outcome;
}

void check_case(const LinkCase& given) {
    SCOPED_TRACE(given.name);
    std::mt19937_64 random(links_seed);
    const Recording recording = record(given, random);
    const Outcome outcome = receive(recording, recording.sent.link, given.slot);
    EXPECT_EQ(outcome.bit_error_rate, 0.0);
    EXPECT_GT(outcome.report.coherence, 0.9);
    EXPECT_LT(outcome.report.evm, 0.05);
}

TEST(ChainLinks, DownlinksAreReceived) {
    for (const LinkCase& given : downlinks)
        check_case(given);
}

TEST(ChainLinks, TransformPrecodedUplinksAreReceived) {
    for (const LinkCase& given : precoded)
        check_case(given);
}

TEST(ChainLinks, TransformPrecodedPtrsAreReceived) {
    std::mt19937_64 random(links_seed);
    for (const phy::Link& link : fewer_cases(precoded_with_ptrs())) {
        SCOPED_TRACE(to_json(link));
        const int slot = link.slots.front();
        const phy::PtrsConfig& ptrs = *link.allocation.ptrs;
        const bool shows_any_phase = ptrs.time_density == 1 && ptrs.groups * ptrs.samples_per_group >= 8;
        const Recording recording = record(link, slot, random, shows_any_phase);
        const Outcome outcome = receive(recording, link, slot);
        EXPECT_EQ(outcome.bit_error_rate, 0.0);
        EXPECT_LT(outcome.report.evm, 0.05);
    }
}

/// Who goes by another identity gets bits that say nothing; where DM-RS have it too, coherence says so.
void check_wrong(const Recording& recording, const phy::Link& link, int slot, bool has_other_dmrs) {
    const Outcome outcome = receive(recording, link, slot);
    // Sequences of identities that differ in one bit agree a little at their beginning.
    EXPECT_GT(outcome.bit_error_rate, has_other_dmrs ? 0.25 : 0.45);
    if (has_other_dmrs)
        EXPECT_LT(outcome.report.coherence, phy::min_coherence(link.allocation));
    else
        EXPECT_GT(outcome.report.coherence, 0.9);
}

TEST(ChainLinks, WrongIdentitiesReceiveNothing) {
    for (const LinkCase& given : downlinks) {
        SCOPED_TRACE(given.name);
        std::mt19937_64 random(links_seed);
        const Recording recording = record(given, random);
        const phy::Link& right = recording.sent.link;
        phy::Link link = right;
        link.scrambling.rnti ^= 1U;
        check_wrong(recording, link, given.slot, false);
        link = right;
        link.scrambling.id ^= 512U;
        check_wrong(recording, link, given.slot, false);
        link = right;
        link.scrambling.codeword ^= 1;
        check_wrong(recording, link, given.slot, false);

        link = right;
        link.allocation.dmrs.scrambling_id ^= 256U;
        check_wrong(recording, link, given.slot, true);
        link = right;
        link.allocation.dmrs.n_scid ^= 1;
        check_wrong(recording, link, given.slot, true);
        link = right;
        link.allocation.first_crb += 1;
        check_wrong(recording, link, given.slot, true);
        check_wrong(recording, right, given.slot ^ 2, true);
    }
}

/// Short ranges of different lengths of a channel that fades: the delay spread measured over them must not
/// come out so short that paths are lost.
TEST(ChainLinks, UnequalRangesAreReceivedAtHighSnr) {
    std::mt19937_64 random(links_seed);
    phy::Link link = phy::parse_link(R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 120000, "resource_blocks": 56, "cell_id": 362,
                    "sample_rate": 92160000, "center_frequency": 0},
        "allocation": {"rnti": 1, "modulation": "256qam", "layers": 1,
            "resource_blocks": [[20, 4], [40, 8], [28, 4]],
            "dmrs": {"type": 2, "length": 2, "ports": [0], "cdm_groups_without_data": 2, "mapping_type": "A",
                     "typeA_position": 2, "additional_positions": 1}}})");
    const phy::ReceiverConfig config = {.link = link, .antennas = 4, .format = phy::SoftBitFormat::float32};
    phy::Receiver receiver(phy::Host(), config);
    std::vector<float> llr(receiver.soft_bits_per_slot());
    for (const std::uint64_t n : fewer_indices(80)) {
        const ChainCase sent = random_case(link, 0, random);
        const AirInterface air(sent.carrier);
        const AirChannel channel = draw_chain_channel(sent, 4, AirProfile::exponential, random);
        const AirSamples samples =
            add_noise(air.transmit(sent.grid, 0, channel, random), air.noise(0, 4, random), 1e-5);
        const auto stored = store(samples, 4, receiver.input_per_slot(), phy::SampleFormat::cf32, 1.0);
        receiver({phy::SampleFormat::cf32, std::span(stored)}, 0, {.llr = llr});
        EXPECT_EQ(bit_errors(llr, sent.codeword), 0U) << "slot " << n << ", seed " << links_seed;
    }
}

TEST(ChainLinks, SingleResourceBlocksAreReceived) {
    for (const int type : {1, 2}) {
        for (std::size_t layers = 1; layers <= 4; ++layers) {
            std::mt19937_64 random(links_seed);
            phy::Link link = phy::parse_link(downlinks[0].link);
            link.allocation.resource_blocks = {{7, 1}};
            link.allocation.dmrs.type = type;
            link.allocation.dmrs.ports.resize(layers);
            std::iota(link.allocation.dmrs.ports.begin(), link.allocation.dmrs.ports.end(), 0);
            const ChainCase sent = random_case(link, 0, random);
            const AirInterface air(sent.carrier);
            const AirChannel channel = draw_chain_channel(sent, 8, AirProfile::tdl_c, random);
            const AirSamples samples =
                add_noise(air.transmit(sent.grid, 0, channel, random), air.noise(0, 8, random), 1e-3);
            const Outcome outcome = receive({sent, samples, 8}, link, 0);
            EXPECT_EQ(outcome.bit_error_rate, 0.0) << "type " << type << ", " << layers << " layers";
            EXPECT_GT(outcome.report.coherence, 0.9);
        }
    }
}

/// Prefixes of few samples on few subcarriers tell a frequency badly, and one DM-RS does not put that right:
/// what may as well be nothing must not be taken out of samples.
TEST(ChainLinks, UncertainFrequenciesAreNotCorrected) {
    phy::Link link = phy::parse_link(R"({"direction": "uplink",
        "carrier": {"subcarrier_spacing": 120000, "resource_blocks": 5, "cell_id": 1,
                    "sample_rate": 15360000, "center_frequency": 0},
        "allocation": {"rnti": 1, "modulation": "16qam", "layers": 1, "resource_blocks": [0, 5],
            "symbols": [2, 10],
            "dmrs": {"type": 2, "ports": [0], "cdm_groups_without_data": 3, "symbols": [2]}}})");
    const phy::ReceiverConfig config = {.link = link, .antennas = 4};
    const std::size_t per_slot = phy::Receiver(phy::Host(), config).input_per_slot();
    for (unsigned seed = 1; seed <= 10; ++seed) {
        for (const double share : {0.0, 0.25, -0.3}) {
            std::mt19937_64 random(seed);
            const ChainCase sent = random_case(link, 0, random);
            const AirInterface air(sent.carrier);
            AirChannel channel = draw_chain_channel(sent, 4, AirProfile::exponential, random);
            channel.frequency = share * sent.carrier.spacing;
            const AirSamples samples =
                add_noise(air.transmit(sent.grid, 0, channel, random), air.noise(0, 4, random), 1e-4);
            const auto stored = store(samples, 4, per_slot, phy::SampleFormat::cf32, 1.0);
            const phy::Offsets offsets =
                phy::measure_offsets(phy::Host(), config, {phy::SampleFormat::cf32, std::span(stored)}, 0);
            EXPECT_NEAR(offsets.frequency, channel.frequency,
                        (share == 0.0 ? 1e-3 : 0.06) * sent.carrier.spacing)
                << "seed " << seed;
        }
    }
}

/// The power of DM-RS is that of data times what the link says: a link that says something else scales
/// symbols.
TEST(ChainLinks, PowerOfDmrsCounts) {
    const LinkCase& given = downlinks[3];
    std::mt19937_64 random(links_seed);
    const Recording recording = record(given, random);
    phy::Link link = recording.sent.link;
    link.allocation.dmrs.power_db = 3.0F;
    EXPECT_GT(receive(recording, link, given.slot).bit_error_rate, 0.1);
}

/// A recording with phase compensation for f0, in which every symbol has a phase of its own, is noise for a
/// receiver that does not know f0, or turns the other way.
TEST(ChainLinks, CenterFrequencyCounts) {
    for (const LinkCase& given : {downlinks[0], downlinks[2]}) {
        std::mt19937_64 random(links_seed);
        const Recording recording = record(given, random);
        // A multiple of the sample rate less f0 is what -f0 is to samples.
        const double rate = *recording.sent.link.carrier.sample_rate;
        const double turned = 1e4 * rate - *recording.sent.link.carrier.center_frequency;
        for (const double f0 : {0.0, turned}) {
            phy::Link link = recording.sent.link;
            link.carrier.center_frequency = f0;
            EXPECT_GT(receive(recording, link, given.slot).bit_error_rate, 0.1) << given.name << ", " << f0;
        }
    }
}

}  // namespace
