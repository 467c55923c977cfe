#include <gtest/gtest.h>

#include "demapper/gain_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/demapper/stage.hpp"

/// A demapper with a gain gives what it gives without one for symbols that were divided before.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy::SoftBitSpan;

class DemapperGain : public testing::TestWithParam<SampleFormat> {
protected:
    /// The bytes lie anywhere.
    static void expect_on_all(const phy::DemapperConfig& plain, const GainCase& gain, std::size_t count,
                              std::size_t shift, SoftBitFormat output) {
        Bytes stored = stored_symbols(GetParam(), count, gain.gain);
        const std::vector<phy::cf32> symbols = divided(GetParam(), stored, gain);
        stored.insert(stored.begin(), shift, std::byte{0xA5});
        const std::vector<float> own = noise_of_symbols(count);
        for (const phy::NoiseVariance& noise : {phy::NoiseVariance(0.06F), phy::NoiseVariance(own)}) {
            const GainResult expected = expected_by_gain(plain, symbols, noise, output);
            for (const phy::Backend& backend : host_backends()) {
                for (const int threads : {1, 3}) {
                    SCOPED_TRACE(text_of(plain, gain, output) + ", " + backend.name() + ", " +
                                 std::to_string(count) + " symbols, shift " + std::to_string(shift));
                    phy::SoftDemapper demap(host_of(backend, threads), with_gain(plain, gain));
                    const phy::SymbolView view(GetParam(), std::span(stored).subspan(shift));
                    Bytes llr(expected.llr.size());
                    demap(view, noise, SoftBitSpan(output, llr));
                    ASSERT_TRUE(llr == expected.llr);
                    GainResult counted{Bytes(llr.size()), {}};
                    demap(view, noise, SoftBitSpan(output, counted.llr), 0, &counted.counters);
                    ASSERT_TRUE(counted.llr == expected.llr);
                    ASSERT_EQ(counted.counters, expected.counters);
                }
            }
        }
    }
};

TEST_P(DemapperGain, DividesWithOneRounding) {
    for (const GainCase& gain : gain_cases)
        for (const phy::DemapperConfig& config : gain_demappers())
            for (const SoftBitFormat output : phy::all_soft_bit_formats)
                ASSERT_NO_FATAL_FAILURE(expect_on_all(config, gain, 5003, 0, output));
}

TEST_P(DemapperGain, EveryLengthAndAlignment) {
    for (std::size_t shift = 0; shift < 5; ++shift)
        for (std::size_t count = 0; count < 70; count += 1 + count / 8)
            ASSERT_NO_FATAL_FAILURE(expect_on_all({.modulation = phy::Modulation::qam16}, gain_cases[0],
                                                  count, shift, SoftBitFormat::int8));
}

TEST_P(DemapperGain, HoldsForBatches) {
    constexpr std::size_t count = 3001;
    const GainCase gain = gain_cases[1];
    const Bytes stored = stored_symbols(GetParam(), count, gain.gain);
    const phy::SymbolView view(GetParam(), stored);
    const std::vector<phy::cf32> symbols = divided(GetParam(), stored, gain);
    std::vector<Bytes> llr;
    std::vector<phy::Allocation> allocations;
    for (const phy::Modulation modulation : phy::all_modulations)
        llr.emplace_back(count * bits_per_symbol(modulation));
    for (std::size_t i = 0; i < llr.size(); ++i)
        allocations.push_back(
            {phy::all_modulations[i], view, 0.06F, SoftBitSpan(SoftBitFormat::int8, llr[i])});
    phy::BatchDemapper(host_of(host_backends().front(), 3),
                       phy::detail::without_modulation(with_gain({}, gain)))(allocations);
    for (std::size_t i = 0; i < llr.size(); ++i)
        EXPECT_TRUE(llr[i] == expected_by_gain({.modulation = phy::all_modulations[i]}, symbols, 0.06F,
                                               SoftBitFormat::int8)
                                  .llr)
            << to_string(phy::all_modulations[i]);
}

INSTANTIATE_TEST_SUITE_P(All, DemapperGain, testing::ValuesIn(phy::all_sample_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

/// So many that they are streamed past the caches.
TEST(DemapperGainTest, LargeCallsGiveTheSameBytes) {
    constexpr std::size_t count = (std::size_t{18} << 20U) / 8;
    const GainCase gain = gain_cases[0];
    const std::vector<phy::cf32> unit = NoisySymbols(phy::Modulation::qam256, 20.0, gain_seed).take(count);
    std::vector<phy::cf32> symbols(unit);
    for (phy::cf32& symbol : symbols)
        symbol *= gain.gain;
    const Bytes stored = phy_test::stored(SampleFormat::cf32, symbols, 1.0F);
    const phy::DemapperConfig config{.modulation = phy::Modulation::qam256};
    const std::vector<std::int8_t> none(8 * count);
    std::vector<std::int8_t> expected(none);
    std::vector<std::int8_t> llr(none);
    const phy::Host host = host_of(host_backends().front());
    phy::SoftDemapper(host, config)(divided(SampleFormat::cf32, stored, gain), 0.01F, expected);
    phy::SoftDemapper(host, with_gain(config, gain))(symbols, 0.01F, llr);
    EXPECT_TRUE(llr == expected) << "seed " << gain_seed;
}

TEST(DemapperGainTest, ValuesOutOfRangeThrow) {
    const phy::Host host;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float gain : {0.0F, -1.0F, nan, 0x1p-41F, 0x1p41F}) {
        const phy::DemapperConfig config{.gain = gain};
        EXPECT_THROW(phy::SoftDemapper(host, config), phy::ArgumentError) << gain;
        EXPECT_THROW(phy::BatchDemapper(host, {.gain = gain}), phy::ArgumentError) << gain;
        EXPECT_THROW(phy::SoftDemapStage({.demapper = config}), phy::ArgumentError) << gain;
    }
    EXPECT_THROW(phy::SoftDemapper(host, {.full_scale = 0x1p126F, .gain = 2.0F}), phy::ArgumentError);
    EXPECT_THROW(phy::SoftDemapper(host, {.full_scale = 0x1p-126F, .gain = 0.5F}), phy::ArgumentError);
    EXPECT_NO_THROW(phy::SoftDemapper(host, {.full_scale = 0x1p126F, .gain = 0.5F}));
}

}  // namespace
