#include "phy/scaling/scaler.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "demapper/signals.hpp"
#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/scaling/stage.hpp"
#include "scaling/scaling_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::SampleFormat;
using phy::SymbolScaler;

class SymbolScalerOf : public testing::TestWithParam<SampleFormat> {};

TEST_P(SymbolScalerOf, EveryBackendRoundsOnce) {
    const SampleFormat format = GetParam();
    const std::vector<std::byte> stored = stored_symbols(format, 40'001);
    for (const ScalingConfig& config : scaling_configs) {
        const std::vector<std::uint32_t> expected = expected_scaled(format, stored, config);
        for (const phy::Backend& backend : host_backends()) {
            for (const int threads : {1, 3}) {
                SCOPED_TRACE(backend.name() + ", " + std::to_string(threads) + " threads, gain " +
                             std::to_string(config.gain) + ", seed " + std::to_string(scaling_seed));
                std::vector<cf32> scaled(stored.size() / size_of(format));
                const SymbolScaler scale(host_of(backend, threads), config);
                scale({format, stored}, scaled);
                ASSERT_EQ(bits_of(scaled), expected);
            }
        }
    }
}

TEST_P(SymbolScalerOf, EveryLengthAndAlignment) {
    const SampleFormat format = GetParam();
    const ScalingConfig config = {.gain = 3.0F};
    std::vector<std::byte> stored = stored_symbols(format, 80);
    for (std::size_t shift = 0; shift < 9; ++shift) {
        for (std::size_t count = 0; count < 70; ++count) {
            const auto bytes = std::span(std::as_const(stored)).subspan(shift, count * size_of(format));
            std::vector<cf32> scaled(count + 1, cf32(7.0F));
            for (const phy::Backend& backend : host_backends()) {
                const SymbolScaler scale(host_of(backend), config);
                scale({format, bytes}, std::span(scaled).first(count));
                ASSERT_EQ(bits_of(std::span(scaled).first(count)), expected_scaled(format, bytes, config))
                    << backend.name() << ", " << count << " symbols, shift " << shift << ", seed "
                    << scaling_seed;
                ASSERT_EQ(scaled[count], cf32(7.0F));
            }
        }
    }
}

TEST_P(SymbolScalerOf, PipelinesGiveTheSameBytes) {
    const SampleFormat format = GetParam();
    const ScalingConfig config = {.gain = 0.3F};
    const std::vector<std::byte> stored = stored_symbols(format, 10'007);
    phy::ScaleStage stage({.scaler = config, .input = format});
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{333}, std::size_t{20'000}}) {
        std::vector<cf32> scaled(10'007);
        phy::Pipeline pipeline({phy::Host()}, stage, {.chunk = chunk});
        phy::MemorySource source(stage.inputs(), {stored});
        phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(scaled))});
        pipeline.run(source, sink);
        EXPECT_EQ(bits_of(scaled), expected_scaled(format, stored, config)) << "seed " << scaling_seed;
    }
}

INSTANTIATE_TEST_SUITE_P(All, SymbolScalerOf, testing::ValuesIn(phy::all_sample_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(SymbolScalerTest, ScalesWhereSymbolsLie) {
    std::vector<std::byte> stored = stored_symbols(SampleFormat::cf32, 3001);
    const ScalingConfig config = {.gain = 0.7F};
    const std::vector<std::uint32_t> expected = expected_scaled(SampleFormat::cf32, stored, config);
    for (const phy::Backend& backend : host_backends()) {
        std::vector<cf32> symbols(3001);
        std::memcpy(symbols.data(), stored.data(), stored.size());
        SymbolScaler(host_of(backend), config)(symbols, symbols);
        EXPECT_EQ(bits_of(symbols), expected) << backend.name() << ", seed " << scaling_seed;
    }
}

TEST(SymbolScalerTest, WrongArgumentsThrow) {
    const phy::Host host;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float gain : {0.0F, -1.0F, nan, 0x1p-41F, 0x1p41F}) {
        EXPECT_THROW(SymbolScaler(host, {.gain = gain}), phy::ArgumentError) << gain;
        EXPECT_THROW(phy::ScaleStage({.scaler = {.gain = gain}}), phy::ArgumentError) << gain;
    }
    for (const float full_scale : {-1.0F, nan, 0x1p-127F, 0x1p127F})
        EXPECT_THROW(SymbolScaler(host, {.full_scale = full_scale}), phy::ArgumentError) << full_scale;
    EXPECT_THROW(SymbolScaler(host, {.gain = 2.0F, .full_scale = 0x1p126F}), phy::ArgumentError);
    std::vector<cf32> three(3);
    std::vector<cf32> four(4);
    EXPECT_THROW(SymbolScaler(host, {})(three, four), phy::ArgumentError);
}

}  // namespace
