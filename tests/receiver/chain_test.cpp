#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/receiver.hpp"
#include "receiver/chain_cases.hpp"
#include "support/fewer_cases.hpp"

/// PUSCH of Sionna through OFDM, channels, offsets and noise of the tests, and phy::Receiver.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

constexpr unsigned chain_seed = 13;

struct Outcome {
    std::vector<float> llr;
    phy::SlotReport report;
};

Outcome receive(const ChainCase& sent, phy::ReceiverInput kind, const AirSamples& samples, int antennas,
                phy::SampleFormat format, double gain, std::uint64_t occasion) {
    const phy::ReceiverConfig config = {
        .link = sent.link, .input = kind, .antennas = antennas, .format = phy::SoftBitFormat::float32};
    phy::Receiver receiver(phy::Host(), config);
    const std::vector<std::byte> stored =
        store(samples, static_cast<std::size_t>(antennas), receiver.input_per_slot(), format, gain);
    Outcome outcome;
    outcome.llr.resize(receiver.soft_bits_per_slot());
    std::vector<phy::ReceivedSlot> received(1);
    receiver({format, std::span(stored)}, occasion, {.llr = outcome.llr, .slots = received});
    outcome.report = phy::slot_report(received[0], config, receiver.schedule().slot(occasion));
    return outcome;
}

/// What the report says is near the truth; n0 is that of samples before the gain.
void check_report(const phy::SlotReport& report, const ChainCase& sent, const AirChannel& channel) {
    EXPECT_GT(report.coherence, 0.9);
    EXPECT_LT(report.evm, 0.1);
    EXPECT_EQ(report.erasures, 0U);
    EXPECT_NEAR(report.frequency_offset, channel.frequency, 0.0005 * sent.carrier.spacing);
    const double prefix = 144.0 / 2048.0 / sent.carrier.spacing;
    EXPECT_NEAR(report.timing_offset, channel.timing, 0.2 * prefix);
}

TEST(Chain, VectorsAreReceivedWithoutBitErrors) {
    unsigned seed = chain_seed;
    for (const SionnaVector& vector : fewer_cases(sionna_vectors())) {
        std::mt19937_64 random(++seed);
        const ChainCase sent = make_case(vector, random);
        SCOPED_TRACE(sent.name + ", seed " + std::to_string(seed));
        const int layers = sent.link.allocation.layers();
        const int antennas = std::max(4, layers + 4) - static_cast<int>(random() % 2);
        constexpr AirProfile profiles[] = {AirProfile::exponential, AirProfile::tdl_a, AirProfile::tdl_c};
        const AirChannel channel = draw_chain_channel(sent, antennas, profiles[random() % 3], random);
        const AirInterface air(sent.carrier);
        const AirSamples signal = air.transmit(sent.grid, vector.slot, channel, random);
        const AirSamples samples =
            add_noise(signal, air.noise(vector.slot, antennas, random), std::pow(10.0, -5.0));

        ASSERT_EQ(sent.codeword.size(),
                  sent.places.size() * static_cast<std::size_t>(layers) * bits_per_symbol(vector.modulation));
        constexpr phy::SampleFormat formats[] = {phy::SampleFormat::cf32, phy::SampleFormat::ci16,
                                                 phy::SampleFormat::cf16};
        const Outcome outcome = receive(sent, phy::ReceiverInput::samples, samples, antennas,
                                        formats[random() % 3], recording_gain(samples), random() % 3);
        ASSERT_EQ(outcome.llr.size(), sent.codeword.size());
        EXPECT_EQ(bit_errors(outcome.llr, sent.codeword), 0U);
        check_report(outcome.report, sent, channel);

        // What others have demodulated to resource elements.
        const std::vector<AirComplex> grid = air.receive(samples, vector.slot, 0.0);
        const Outcome of_grid = receive(sent, phy::ReceiverInput::grid, grid, antennas,
                                        phy::SampleFormat::cf32, 1.0, random() % 3);
        EXPECT_EQ(bit_errors(of_grid.llr, sent.codeword), 0U);
        check_report(of_grid.report, sent, channel);
    }
}

/// OFDM as a link says it: f0 from the capture's attribute, with a recording's centre that may be another.
TEST(Chain, LinksOfSamplesGiveTheGridOfMatlab) {
    const auto arrays = read_npz(vectors_directory() / "matlab_ofdm_40mhz_15khz.npz");
    const auto waveform = arrays.at("waveform").as<phy::cf32>("<c8");
    const auto truth = arrays.at("grid").as<phy::cf32>("<c8");
    constexpr double rate = 61'440'000.0;
    for (const double shift : {0.0, 1.8e6 + 7.0}) {
        phy::Link link = phy::parse_link(R"({"direction": "downlink",
            "carrier": {"subcarrier_spacing": 15000, "resource_blocks": 216, "cell_id": 0,
                        "frequency_shift": )" +
                                         std::to_string(shift) + R"(},
            "allocation": {"rnti": 1, "modulation": "qpsk", "layers": 1, "resource_blocks": [0, 216],
                "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2]}}})");
        link = phy::complete_link(link, rate, 3.8e9 + shift);
        std::vector<phy::cf32> samples;
        for (std::size_t i = 0; i < waveform.size(); ++i)
            samples.emplace_back(AirComplex(waveform[i]) * turns(-shift * static_cast<double>(i) / rate));
        std::vector<phy::cf32> grid(truth.size());
        phy::OfdmDemodulator demodulate(phy::Host(), {.ofdm = phy::ofdm_config(link, 1)});
        demodulate(samples, {.count = 2}, grid);
        double error = 0.0;
        double power = 0.0;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            error += std::norm(AirComplex(grid[i]) - AirComplex(truth[i]));
            power += std::norm(AirComplex(truth[i]));
        }
        EXPECT_LT(std::sqrt(error / power), 2e-6) << shift;
    }
}

}  // namespace
