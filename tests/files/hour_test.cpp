// A recorder's clock is followed for as long as a recording lasts: a minute, or PHY_TEST_SECONDS.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

#include "air_capture.hpp"
#include "computed_file.hpp"
#include "drifting_recording.hpp"
#include "phy/files/receive.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::ClockSource;
using phy_test::DriftingRecording;
using phy_test::SwingingClock;

double seconds_of_signal() {
    const char* const value = std::getenv("PHY_TEST_SECONDS");
    if (value != nullptr) return std::strtod(value, nullptr);
    return phy_test::takes_fewer_cases() ? 15.0 : 60.0;
}

/// 64QAM on 6 resource blocks at 15 kHz, two slots of each frame, at 1.92 Msps and 700 MHz.
DriftingRecording::Config narrow_recording(std::uint64_t seed) {
    DriftingRecording::Config config{.link = phy_test::plain_recording().link};
    config.link.carrier.subcarrier_spacing = 15000;
    config.link.carrier.sample_rate = 1.92e6;
    config.link.carrier.center_frequency = 700e6;
    config.link.allocation.carrier_resource_blocks = 6;
    config.link.allocation.resource_blocks = {{.first = 0, .count = 6}};
    config.link.slots = {0, 5};
    config.seed = seed;
    return config;
}

class HourOfSamples : public testing::TestWithParam<bool> {
protected:
    phy::Reception receive(const DriftingRecording::Config& config) {
        const DriftingRecording recording(config);
        const auto path = folder_ / "samples.raw";
        const phy_test::ComputedFile file(path, recording.size() * sizeof(phy::ci16),
                                          [&](std::uint64_t offset, std::span<std::byte> bytes) {
                                              recording.make(offset / sizeof(phy::ci16),
                                                             {reinterpret_cast<phy::ci16*>(bytes.data()),
                                                              bytes.size() / sizeof(phy::ci16)});
                                          });
        phy::ReceiveOptions options;
        options.link = config.link;
        options.capture.raw = "ci16";
        options.capture.kind = phy::CaptureKind::samples;
        return phy::receive_file(path, {}, options);
    }

    phy_test::TemporaryDirectory folder_;
    std::uint32_t seed_ = phy_test::random_seed();
    std::mt19937 random_{seed_};
    std::uniform_real_distribution<double> unit_{0.0, 1.0};
};

double worst_evm(const phy::Reception& done) {
    return std::ranges::max_element(done.reports, {}, &phy::SlotReport::evm)->evm;
}

/// For tools/hour_figures.py.
void record(const char* name, double value) {
    testing::Test::RecordProperty(name, std::to_string(value));
}

/// Slots of the link that are not received, or whose symbols err more than noise explains.
std::int64_t lost_slots(const phy::Reception& done, double seconds, double max_evm) {
    const std::int64_t sent = 2 * std::lround(100.0 * seconds);
    return sent - std::ranges::count_if(done.reports,
                                        [&](const phy::SlotReport& report) { return report.evm < max_evm; });
}

/// Frequencies show the clock at once, and timing over some seconds.
void expect_clock(const phy::ClockReport& shown, const SwingingClock& clock, double seconds) {
    const double max_error = shown.corrected == ClockSource::frequency ? 0.02 : 0.5;
    const double first = (shown.first.value() - clock.at(0.0)) * 1e6;
    const double last = (shown.last.value() - clock.at(seconds)) * 1e6;
    record("clock_error_first_ppm", first);
    record("clock_error_last_ppm", last);
    EXPECT_NEAR(first, 0.0, max_error);
    EXPECT_NEAR(last, 0.0, max_error);
}

TEST_P(HourOfSamples, NoSlotIsLost) {
    SCOPED_TRACE("seed " + std::to_string(seed_));
    DriftingRecording::Config config = narrow_recording(seed_);
    config.seconds = 10.0;
    const phy::Reception ideal = receive(config);

    config.seconds = seconds_of_signal();
    config.clock = {.offset = 5e-5 * (unit_(random_) - 0.5),
                    .swing = 2e-6 * unit_(random_),
                    .period = 60.0 * std::pow(60.0, unit_(random_)),
                    .phase = unit_(random_)};
    config.has_one_reference = GetParam();
    config.frequency = 1e3 * (unit_(random_) - 0.5);
    const std::clock_t begin = std::clock();
    const phy::Reception done = receive(config);
    record("cpu_seconds", static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);

    // Noise alone brings the worst of a million slots to 1.1 times the mean.
    const std::int64_t lost = lost_slots(done, config.seconds, 1.2 * ideal.mean.evm);
    EXPECT_EQ(lost, 0);
    EXPECT_LT(20.0 * std::log10(done.mean.evm / ideal.mean.evm), 0.1);
    EXPECT_TRUE(done.gaps.empty());
    EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
    expect_clock(done.clock, config.clock, config.seconds);
    record("seed", seed_);
    record("seconds", config.seconds);
    record("slots", static_cast<double>(done.slots));
    record("lost_slots", static_cast<double>(lost));
    record("clock_offset_ppm", config.clock.offset * 1e6);
    record("clock_swing_ppm", config.clock.swing * 1e6);
    record("clock_period_s", config.clock.period);
    record("mean_evm", done.mean.evm);
    record("worst_evm", worst_evm(done));
    record("ideal_mean_evm", ideal.mean.evm);
}

INSTANTIATE_TEST_SUITE_P(With, HourOfSamples, testing::Bool(),
                         [](const auto& with) { return with.param ? "OneReference" : "TwoReferences"; });

}  // namespace
