#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "estimator/profile_loss.hpp"
#include "phy/capture/capture.hpp"
#include "phy/receiver/link.hpp"
#include "receiver/chain_reference.hpp"
#include "support/app_test.hpp"

namespace phy::test {
namespace {

using phy_test::TapWiener;

/// Captures of channels of a few taps, received by demod_app and by a reference that knows the taps.
class ProfileCapture : public AppTest {};

/// 4 layers in 16 resource blocks of 30 kHz, in two slots.
Link sparse_link() {
    Link link;
    link.carrier = {.subcarrier_spacing = 30000};
    link.allocation.carrier_resource_blocks = 16;
    link.allocation.resource_blocks = {{0, 16}};
    link.allocation.dmrs.ports = {0, 1, 2, 3};
    link.scrambling = {.rnti = 4711, .id = 5};
    link.modulation = Modulation::qam64;
    return link;
}

/// Rms distance of 64QAM symbols from their nearest points.
double evm_of(std::span<const cf32> symbols) {
    const phy_test::QamAxis axis(6);
    std::uint8_t bits[6];
    double sum = 0.0;
    for (const cf32& symbol : symbols) {
        const std::complex<double> exact(symbol);
        axis.decide(exact.real(), bits);
        axis.decide(exact.imag(), bits + 1);
        sum += std::norm(exact - phy_test::qam_point(axis, bits));
    }
    return std::sqrt(sum / static_cast<double>(symbols.size()));
}

/// The EVM of a receiver that knows the profile, timing and N0.
double evm_with_taps(const std::string& file, const Link& link, const std::string& channel,
                     double noise_variance) {
    CaptureReader reader(file);
    const CaptureDescription& description = reader.description();
    const auto antennas = static_cast<std::size_t>(description.shape.at(0));
    std::vector<ci16> stored(description.symbols);
    reader.read(0, stored);
    const std::size_t of_slot = 14 * static_cast<std::size_t>(link.allocation.subcarriers());
    const std::size_t of_antenna = stored.size() / antennas;
    const TapWiener filter(link.allocation, static_cast<int>(antennas), link.carrier.subcarrier_spacing,
                           apps::taps_of(apps::parse_channel(channel)));
    const auto scale = static_cast<float>(1.0 / description.full_scale.value());
    std::vector<cf32> pilots(dmrs_pilot_count(link.allocation));
    std::vector<cf32> grid(antennas * of_slot);
    std::vector<cf32> symbols;
    for (std::size_t slot = 0; slot < of_antenna / of_slot; ++slot) {
        for (std::size_t i = 0; i < grid.size(); ++i) {
            const ci16 sample = stored[i / of_slot * of_antenna + slot * of_slot + i % of_slot];
            grid[i] = {scale * static_cast<float>(sample.re), scale * static_cast<float>(sample.im)};
        }
        dmrs_pilots(link.allocation, static_cast<int>(slot), pilots);
        const auto received =
            phy_test::equalized_by_reference(link.allocation, static_cast<int>(antennas),
                                             filter(grid, pilots, noise_variance), noise_variance, grid);
        symbols.insert(symbols.end(), received.symbols.begin(), received.symbols.end());
    }
    return evm_of(symbols);
}

/// A weak path, and 0.7 us later a cluster of two strong ones.
TEST_F(ProfileCapture, PathsBeforeACentroidAreReceived) {
    const Link link = sparse_link();
    std::ofstream(path("link.json")) << to_json(link);
    const std::string channel = "taps:0:-10,700:0,780:-3";
    for (const std::string seed : {"1", "2", "3"}) {
        const std::string capture =
            generate("c.h5", {"--from", "grid", "--link", path("link.json"), "--slots", "2", "--type", "ci16",
                              "--antennas", "8", "--channel", channel, "--snr-db", "35", "--seed", seed,
                              "--no-bits", "--force", "--quiet"});
        EXPECT_LT(std::filesystem::file_size(capture), 200'000U);
        const double genie = evm_with_taps(capture, link, channel, 4.0 * std::pow(10.0, -3.5));
        const double evm = demod_json({capture})["evm_rms"].number();
        RecordProperty("genie_evm_of_seed_" + seed, std::to_string(genie));
        RecordProperty("evm_of_seed_" + seed, std::to_string(evm));
        EXPECT_LT(genie, 0.03) << seed;
        EXPECT_LT(20.0 * std::log10(evm / genie), 1.2) << seed << ": " << evm << " beside " << genie;
    }
}

}  // namespace
}  // namespace phy::test
