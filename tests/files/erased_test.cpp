// Recordings with a line on a subcarrier, which the link erases.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "phy/files/receive.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy_test::AirCapture;
using Config = phy::apps::Recording::Config;

/// In the middle of the allocation, from 0.
int spoiled_subcarrier(const phy::SlotAllocation& allocation, std::mt19937& random) {
    const phy::ResourceBlocks range = allocation.resource_blocks.front();
    return 12 * range.first + 24 + static_cast<int>(random() % static_cast<unsigned>(12 * range.count - 48));
}

/// Of a slot.
std::uint64_t data_symbols(const phy::SlotAllocation& allocation, int subcarrier) {
    const phy::ResourceMap map(allocation);
    const auto block = static_cast<std::size_t>(subcarrier / 12);
    std::uint64_t count = 0;
    for (std::size_t i = block; i < map.entries().size();
         i += static_cast<std::size_t>(allocation.carrier_resource_blocks))
        if ((map.entries()[i].mask >> (subcarrier % 12) & 1U) != 0)
            count += static_cast<std::uint64_t>(allocation.layers());
    return count;
}

/// Adds a line of a power over that of the signal, as a transmitter does that leaks: its offset is the
/// signal's.
void add_line(AirCapture& sent, int subcarrier, double power_db, std::mt19937& random) {
    const phy::LinkCarrier& carrier = sent.sent.link.carrier;
    const double zero = 6.0 * sent.sent.link.allocation.carrier_resource_blocks - carrier.k0;
    const double hertz = (subcarrier - zero) * carrier.subcarrier_spacing - carrier.frequency_shift +
                         sent.sent.frequency_offset;
    const std::size_t length = sent.length();
    for (std::size_t antenna = 0; antenna < sent.data.size() / length; ++antenna) {
        double power = 0.0;
        for (std::size_t i = 0; i < length; ++i)
            power += static_cast<double>(std::norm(sent.data[antenna * length + i]));
        const double amplitude =
            std::sqrt(power / static_cast<double>(length) * std::pow(10.0, power_db / 10.0));
        const double phase = static_cast<double>(random() % 1000) / 1000.0;
        for (std::size_t i = 0; i < length; ++i) {
            const double turns = hertz * static_cast<double>(i) / *carrier.sample_rate + phase;
            sent.data[antenna * length + i] +=
                phy::cf32(std::polar(amplitude, 2.0 * std::numbers::pi * std::remainder(turns, 1.0)));
        }
    }
}

TEST(ErasedSubcarrier, IsNotUsed) {
    const unsigned seed = phy_test::random_seed();
    std::mt19937 random(seed);
    const phy_test::TemporaryDirectory folder;
    const auto capture = folder / "capture.h5";
    phy::ReceiveOptions with_n0;
    with_n0.interference_rejection = false;
    for (int trial = 0; trial < phy_test::fewer_times(6); ++trial) {
        Config config;
        do
            config = phy_test::random_recording(random, 28.0);
        while (config.kind != phy::CaptureKind::samples ||
               config.link.allocation.resource_blocks.front().count < 20);
        config.slots = 20;
        AirCapture sent(config);
        sent.write(capture, config.link);
        const phy::Reception ideal = phy::receive_file(capture, {}, {});
        // Of layers that fade to noise nothing can be said.
        if (!(ideal.mean.evm < 0.15)) continue;
        phy::Link link = config.link;
        const int subcarrier = spoiled_subcarrier(link.allocation, random);
        add_line(sent, subcarrier, -6.0, random);
        sent.write(capture, link);
        // A receiver with interference rejection suppresses a part of it.
        const phy::Reception spoiled = phy::receive_file(capture, {}, with_n0);
        link.allocation.erased_subcarriers = {subcarrier};
        sent.write(capture, link);
        const phy::Reception done = phy::receive_file(capture, {}, {});
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed));
        EXPECT_EQ(done.slots, ideal.slots);
        EXPECT_EQ(done.warnings, ideal.warnings);
        EXPECT_LT(20.0 * std::log10(done.mean.evm / ideal.mean.evm), 0.1);
        EXPECT_GT(spoiled.mean.evm, 2.0 * done.mean.evm);
        for (std::size_t i = 0; i < done.reports.size(); ++i)
            EXPECT_EQ(
                done.reports[i].erasures - ideal.reports[i].erasures,
                link.allocation.dmrs.transform_precoding ? 0 : data_symbols(link.allocation, subcarrier));
    }
}

/// Its squares rotate so slowly that their mean stays.
TEST(ErasedSubcarrier, NearFrequencyZeroIsNoImage) {
    const unsigned seed = phy_test::random_seed();
    std::mt19937 random(seed);
    const phy_test::TemporaryDirectory folder;
    const auto capture = folder / "capture.h5";
    for (const double frequency_offset : {0.0, 3.0, 12.0, 40.0, 150.0}) {
        Config config = phy_test::plain_recording();
        config.link.allocation.carrier_resource_blocks = 32;
        config.link.allocation.erased_subcarriers = {192};
        config.frequency_offset = frequency_offset;
        config.seed = random();
        AirCapture sent(config);
        add_line(sent, 192, 0.0, random);
        sent.write(capture, config.link);
        for (const std::string& warning : phy::receive_file(capture, {}, {}).warnings)
            EXPECT_EQ(warning.find("mirror image"), std::string::npos)
                << warning << ", " << frequency_offset << " Hz, seed " << seed;
    }
}

}  // namespace
