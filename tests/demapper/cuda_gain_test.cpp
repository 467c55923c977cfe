#include <gtest/gtest.h>

#include "demapper/gain_cases.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/demapper/slot_demapper.hpp"
#include "support/gpu.hpp"

/// A demapper on a GPU that has a gain gives what the host gives for symbols that were divided before.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

class GpuDemapperGain : public testing::TestWithParam<SampleFormat> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// Symbols and soft bits lie `shift` bytes behind a multiple of 256.
    static GainResult by_gpu(const phy::DemapperConfig& config, const Bytes& stored,
                             std::span<const float> own, SoftBitFormat output, std::size_t shift,
                             bool counts) {
        const std::size_t count = stored.size() / size_of(GetParam());
        const phy::gpu::Device device;
        const phy::gpu::Stream stream(device);
        GainResult result{Bytes(count * bits_per_symbol(config.modulation) * size_of(output)), {}};
        DeviceBuffer<std::byte> in(device, stored.size() + shift);
        DeviceBuffer<float> noise(device, own.size());
        DeviceBuffer<std::byte> llr(device, result.llr.size() + shift);
        DeviceBuffer<phy::DemapCounters> counters(device, counts ? 1 : 0);
        copy_async(in.subspan(shift, stored.size()), stored, stream);
        copy_async(noise, own, stream);
        if (counts) fill_async(counters, 0, stream);
        phy::gpu::SoftDemapper demap(device, config);
        const phy::gpu::NoiseVariance n0 =
            own.empty() ? phy::gpu::NoiseVariance(0.06F) : phy::gpu::NoiseVariance(noise.span());
        demap.prepare(n0, output);
        demap({GetParam(), in.subspan(shift, stored.size())}, n0,
              phy::gpu::SoftBitSpan(output, llr.subspan(shift, result.llr.size())), stream, 0, counters);
        copy_async(result.llr, llr.subspan(shift, result.llr.size()), stream);
        if (counts) copy_async(std::span(&result.counters, 1), counters, stream);
        stream.synchronize();
        return result;
    }

    static void expect_as_on_host(const phy::DemapperConfig& plain, const GainCase& gain, std::size_t count,
                                  SoftBitFormat output) {
        const Bytes stored = stored_symbols(GetParam(), count, gain.gain);
        const std::vector<phy::cf32> symbols = divided(GetParam(), stored, gain);
        const std::vector<float> own = noise_of_symbols(count);
        for (const std::span<const float> noise : {std::span<const float>(), std::span<const float>(own)}) {
            const GainResult expected = expected_by_gain(
                plain, symbols, noise.empty() ? phy::NoiseVariance(0.06F) : phy::NoiseVariance(noise),
                output);
            for (const std::size_t shift : {0U, 1U, 4U}) {
                SCOPED_TRACE(text_of(plain, gain, output) + ", " + std::to_string(count) +
                             " symbols, shift " + std::to_string(shift));
                const phy::DemapperConfig config = with_gain(plain, gain);
                ASSERT_TRUE(by_gpu(config, stored, noise, output, shift, false).llr == expected.llr);
                const GainResult counted = by_gpu(config, stored, noise, output, shift, true);
                ASSERT_TRUE(counted.llr == expected.llr);
                ASSERT_EQ(counted.counters, expected.counters);
            }
        }
    }
};

TEST_P(GpuDemapperGain, DividesWithOneRounding) {
    for (const GainCase& gain : gain_cases)
        for (const phy::DemapperConfig& config : fewer_cases(gain_demappers()))
            for (const SoftBitFormat output : phy::all_soft_bit_formats)
                ASSERT_NO_FATAL_FAILURE(expect_as_on_host(config, gain, 5003, output));
}

/// Tiles without bad symbols, which are loaded all at once, and overflow beside them.
TEST_P(GpuDemapperGain, ManySymbols) {
    constexpr std::size_t count = 300'001;
    for (const GainCase& gain : {GainCase{.gain = 0.3F}, GainCase{.gain = 0x1p-30F}}) {
        std::vector<phy::cf32> symbols = NoisySymbols(phy::Modulation::qam64, 15.0, gain_seed).take(count);
        for (std::size_t i = 0; i < count; ++i)
            symbols[i] *= i % 5000 == 77 ? 0x1p120F : gain.gain;
        const Bytes stored = phy_test::stored(GetParam(), symbols, default_full_scale(GetParam()));
        const phy::DemapperConfig config{.modulation = phy::Modulation::qam64};
        const GainResult expected =
            expected_by_gain(config, divided(GetParam(), stored, gain), 0.06F, SoftBitFormat::int8);
        const GainResult actual = by_gpu(with_gain(config, gain), stored, {}, SoftBitFormat::int8, 0, false);
        EXPECT_TRUE(actual.llr == expected.llr) << "gain " << gain.gain << ", seed " << gain_seed;
    }
}

/// One allocation of each modulation.
TEST_P(GpuDemapperGain, HoldsForBatches) {
    constexpr std::size_t count = 3001;
    for (const GainCase& gain : gain_cases) {
        const Bytes stored = stored_symbols(GetParam(), count, gain.gain);
        const std::vector<phy::cf32> symbols = divided(GetParam(), stored, gain);
        const phy::gpu::Device device;
        const phy::gpu::Stream stream(device);
        phy::gpu::BatchDemapper demap(device, phy::detail::without_modulation(with_gain({}, gain)));
        DeviceBuffer<std::byte> in(device, stored.size());
        copy_async(in, stored, stream);
        std::vector<DeviceBuffer<std::byte>> llr;
        std::vector<phy::gpu::Allocation> allocations;
        for (const phy::Modulation modulation : phy::all_modulations) {
            demap.prepare(modulation, 0.06F, SoftBitFormat::int8);
            llr.emplace_back(device, count * bits_per_symbol(modulation));
            allocations.push_back({modulation,
                                   {GetParam(), in.span()},
                                   0.06F,
                                   phy::gpu::SoftBitSpan(SoftBitFormat::int8, llr.back().span())});
        }
        demap(allocations, stream);
        for (std::size_t i = 0; i < llr.size(); ++i) {
            const phy::DemapperConfig plain{.modulation = phy::all_modulations[i]};
            Bytes actual(llr[i].size());
            copy_async(actual, llr[i], stream);
            stream.synchronize();
            EXPECT_TRUE(actual == expected_by_gain(plain, symbols, 0.06F, SoftBitFormat::int8).llr)
                << text_of(plain, gain, SoftBitFormat::int8);
        }
    }
}

TEST_P(GpuDemapperGain, HoldsForSlots) {
    constexpr std::size_t count = 3001;
    for (const GainCase& gain : gain_cases) {
        const Bytes stored = stored_symbols(GetParam(), count, gain.gain);
        const std::vector<phy::cf32> symbols = divided(GetParam(), stored, gain);
        const std::vector<float> own = noise_of_symbols(count);
        for (const phy::DemapperConfig& plain : fewer_cases(gain_demappers())) {
            SCOPED_TRACE(text_of(plain, gain, SoftBitFormat::int8));
            phy::gpu::SlotDemapper demapper(
                phy::gpu::Device(),
                {.demapper = with_gain(plain, gain), .input = GetParam(), .symbols = count});
            demapper.prepare(0.06F);
            std::ranges::copy(stored, demapper.input().begin());
            std::ranges::copy(own, demapper.noise().begin());
            const GainResult of_all = expected_by_gain(plain, symbols, 0.06F, SoftBitFormat::int8);
            const GainResult of_each = expected_by_gain(plain, symbols, own, SoftBitFormat::int8);
            // From the third call on a graph is replayed.
            for (int call = 0; call < 4; ++call)
                ASSERT_TRUE(std::ranges::equal(demapper.demap(count, 0.06F), of_all.llr)) << call;
            for (int call = 0; call < 4; ++call)
                ASSERT_TRUE(std::ranges::equal(demapper.demap_per_symbol(count), of_each.llr)) << call;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuDemapperGain, testing::ValuesIn(phy::all_sample_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

}  // namespace
