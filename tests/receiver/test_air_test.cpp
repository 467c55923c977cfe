#include <gtest/gtest.h>

#include <array>
#include <random>

#include "receiver/chain_reference.hpp"
#include "receiver/test_air.hpp"
#include "support/npz.hpp"

/// The transmitter of the chain tests is tested by itself and against a waveform of somebody else.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

double relative_rms(std::span<const AirComplex> values, std::span<const AirComplex> truth) {
    double error = 0.0;
    double power = 0.0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        error += std::norm(values[i] - truth[i]);
        power += std::norm(truth[i]);
    }
    return std::sqrt(error / power);
}

TEST(TestAir, ReceivesTheWaveformOfMatlab) {
    const auto arrays = read_npz(vectors_directory() / "matlab_ofdm_40mhz_15khz.npz");
    const auto waveform = arrays.at("waveform").as<std::complex<float>>("<c8");
    const auto grid = arrays.at("grid").as<std::complex<float>>("<c8");
    const AirCarrier carrier{
        .spacing = 15000, .resource_blocks = 216, .fft_size = 4096, .center_frequency = 3.8e9};
    const AirInterface air(carrier);
    for (int slot = 0; slot < 2; ++slot) {
        const auto start = static_cast<std::ptrdiff_t>(carrier.slot_start(slot));
        const auto samples = static_cast<std::ptrdiff_t>(carrier.slot_samples(slot));
        const AirSamples of_slot(waveform.begin() + start, waveform.begin() + start + samples);
        const std::ptrdiff_t elements = 14 * 2592;
        const AirSamples truth(grid.begin() + slot * elements, grid.begin() + (slot + 1) * elements);
        EXPECT_LT(relative_rms(air.receive(of_slot, slot, 0.0), truth), 1e-6);
    }
}

/// In every slot of a subframe, with everything that a channel and a recording do.
TEST(TestAir, GridsComeBackTimesTheResponse) {
    for (const int spacing : {15000, 30000, 60000, 120000}) {
        for (int slot = 3; slot < 3 + spacing / 15000; ++slot) {
            std::mt19937_64 random(static_cast<unsigned>(slot));
            const AirCarrier carrier{.spacing = spacing,
                                     .resource_blocks = 9,
                                     .fft_size = 384,
                                     .k0 = slot % 3 * 6 - 6,
                                     .center_frequency = 3.75e9 + 12345.0,
                                     .frequency_shift = 6.25 * spacing};
            const AirInterface air(carrier);
            AirChannel channel = draw_air_channel(random, 2, 2, 0.04 * 144 / 2048 / spacing);
            channel.timing = -0.2 * 144 / 2048 / spacing;
            channel.frequency = 0.01 * spacing;
            const std::size_t k = carrier.subcarriers();
            AirSamples grid(2 * 14 * k);
            for (AirComplex& element : grid)
                element = air_gaussian(random, 1.0);
            const AirSamples seen =
                air.receive(air.transmit(grid, slot, channel, random), slot, channel.frequency);
            AirSamples truth(seen.size());
            for (std::size_t i = 0; i < truth.size(); ++i) {
                const auto antenna = static_cast<int>(i / (14 * k));
                for (std::size_t port = 0; port < 2; ++port)
                    truth[i] += grid[port * 14 * k + i % (14 * k)] *
                                channel.response(antenna, static_cast<int>(port), carrier.frequency(i % k));
            }
            EXPECT_LT(relative_rms(seen, truth), 1e-9) << spacing << " Hz, slot " << slot;
        }
    }
}

TEST(TestAir, DecisionsUndoPoints) {
    for (std::size_t qm = 2; qm <= 10; qm += 2) {
        const QamAxis axis(qm);
        double power = 0.0;
        for (std::uint32_t value = 0; value < 1U << qm; ++value) {
            std::array<std::uint8_t, 10> bits = {};
            for (std::size_t i = 0; i < qm; ++i)
                bits[i] = static_cast<std::uint8_t>(value >> i & 1U);
            const AirComplex point = qam_point(axis, bits.data());
            power += std::norm(point);
            std::array<std::uint8_t, 10> decided = {};
            axis.decide(point.real(), decided.data());
            axis.decide(point.imag(), decided.data() + 1);
            EXPECT_EQ(decided, bits);
        }
        EXPECT_NEAR(power / static_cast<double>(1U << qm), 1.0, 1e-12);
    }
}

}  // namespace
