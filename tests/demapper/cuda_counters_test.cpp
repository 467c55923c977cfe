#include <gtest/gtest.h>

#include "demapper/cuda_calls.hpp"

namespace {

using phy::DemapCounters;
using phy::SoftBitFormat;
using phy_test::DeviceDemappers;
using phy_test::Input;
using phy_test::NoiseKind;
using phy_test::RecordedCalls;
using phy_test::Window;

/// A device counts what is there by definition, as the CPU does.
class CudaCounters : public testing::TestWithParam<phy_test::Variant> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    static void expect_counters(DeviceDemappers& subject, const RecordedCalls& recorded) {
        const phy::gpu::Device device;
        DemapCounters expected = recorded.counters(subject.single().config().llr.clip);
        expected.erasures += 1000;
        expected.saturated += 2000;
        phy_test::DeviceCallMemory& memory = subject.memory();
        for (const bool as_batch : {false, true}) {
            phy_test::DeviceCounters counters(device, {.erasures = 1000, .saturated = 2000});
            const std::vector<phy::gpu::Allocation> calls = recorded.calls(memory.fill(recorded));
            if (as_batch) {
                subject.batch()(calls, memory.stream(), counters.get());
            } else {
                phy_test::call_all(subject.single(), calls, memory.stream(), counters.get());
            }
            ASSERT_EQ(recorded.difference(memory.contents()), "") << (as_batch ? "batch" : "single calls");
            const DemapCounters counted = counters.value();
            ASSERT_EQ(counted.erasures, expected.erasures) << (as_batch ? "batch" : "single calls");
            ASSERT_EQ(counted.saturated, expected.saturated) << (as_batch ? "batch" : "single calls");
        }
    }

    static constexpr NoiseKind noises[] = {{false, 0.02F}, {false, 1e-6F}, {true, 0.0F}};

    // Counted by several blocks, by less than a warp, and where nothing is aligned.
    const std::vector<Window> windows_ = {{.first = 0, .count = 3001},
                                          {.first = 5, .count = 2001, .in_offset = 1, .out_offset = 3},
                                          {.first = 9, .count = 7},
                                          {.first = 3, .count = 0},
                                          {.first = 2, .count = 65, .out_offset = 2}};
};

TEST_P(CudaCounters, FollowTheirDefinition) {
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam().modulation, 3001);
    phy::SoftDemapper scalar = GetParam().on(phy::Backend::scalar());
    DeviceDemappers subject(phy::gpu::Device(), GetParam().config());
    for (const NoiseKind& noise : noises) {
        phy_test::for_all_formats(symbols, [&](const Input& input, SoftBitFormat format) {
            subject.prepare(noise, format);
            ASSERT_NO_FATAL_FAILURE(
                expect_counters(subject, phy_test::recorded_calls(scalar, input, noise, format, windows_)));
        });
    }
}

TEST_P(CudaCounters, KnowTheClip) {
    const Input input(phy::SampleFormat::cf32, phy_test::awkward_symbols(GetParam().modulation, 3001));
    for (const int clip : {1, 31, 120, 126}) {
        SCOPED_TRACE(clip);
        phy::DemapperConfig config = GetParam().config();
        config.llr.clip = clip;
        phy::SoftDemapper scalar(phy_test::scalar_host(), config);
        DeviceDemappers subject(phy::gpu::Device(), config);
        for (const NoiseKind& noise : noises) {
            subject.prepare(noise, SoftBitFormat::int8);
            const RecordedCalls recorded =
                phy_test::recorded_calls(scalar, input, noise, SoftBitFormat::int8, windows_);
            ASSERT_GT(recorded.counters(clip).saturated, 0U);
            ASSERT_NO_FATAL_FAILURE(expect_counters(subject, recorded));
        }
    }
}

TEST_P(CudaCounters, AreLeftAloneWhereNoneAreGiven) {
    const phy::gpu::Device device;
    phy_test::DeviceCounters counters(device, {.erasures = 1000, .saturated = 2000});
    const auto symbols = phy_test::awkward_symbols(GetParam().modulation, 300);
    phy::gpu::DeviceBuffer<phy::cf32> samples(device, symbols.symbols.size());
    phy::gpu::DeviceBuffer<std::int8_t> llr(device, samples.size() * bits_per_symbol(GetParam().modulation));
    const phy::gpu::Stream stream(device);
    phy::gpu::copy_async(samples, symbols.symbols, stream);
    phy::gpu::SoftDemapper demap(device, GetParam().config());
    demap.prepare(0.01F, SoftBitFormat::int8);
    demap(samples, 0.01F, llr, stream, 0, counters.get().first(0));
    stream.synchronize();
    EXPECT_EQ(counters.value(), (DemapCounters{.erasures = 1000, .saturated = 2000}));
}

INSTANTIATE_TEST_SUITE_P(, CudaCounters, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

}  // namespace
