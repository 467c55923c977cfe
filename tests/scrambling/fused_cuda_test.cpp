#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"
#include "scrambling/fused_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"

/// Soft bits that a demapper on a GPU has descrambled, against those of the host.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SoftBitFormat;
using phy::gpu::copy_async;
using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy::gpu::Stream;

/// A call's arrays on the device.
struct FusedCall {
    FusedCall(const Device& device, const FusedCase& of_call, std::size_t count, SoftBitFormat of_output,
              std::size_t bytes_before)
        : fused(of_call),
          format(of_output),
          shift(bytes_before),
          first(bytes_before % 2),
          symbols(device, count + 1),
          noise(device, count),
          signs(device, (count * bits_per_symbol(fused.modulation) + 31) / 32),
          llr(device, count * bits_per_symbol(fused.modulation) * size_of(format) + shift) {
        const Stream stream(device);
        const std::vector<phy::cf32> on_host = fused_symbols(fused.modulation, count);
        const std::vector<float> noise_on_host = noise_of_symbols(count);
        const std::vector<std::uint32_t> signs_on_host =
            fused_signs(count * bits_per_symbol(fused.modulation));
        copy_async(symbols.subspan(first, count), on_host, stream);
        copy_async(noise, noise_on_host, stream);
        copy_async(signs, signs_on_host, stream);
        stream.synchronize();
    }

    [[nodiscard]] phy::gpu::Allocation allocation() {
        const std::size_t count = symbols.size() - 1;
        const phy::gpu::NoiseVariance n0 =
            fused.per_symbol_noise ? phy::gpu::NoiseVariance(noise.span()) : 0.06F;
        return {fused.modulation,
                symbols.subspan(first, count),
                n0,
                phy::gpu::SoftBitSpan(format, llr.subspan(shift, llr.size() - shift)),
                0,
                signs.span()};
    }

    [[nodiscard]] std::vector<std::byte> result(const Device& device) const {
        const phy::gpu::DeviceSpan<const std::byte> bytes = llr.subspan(shift, llr.size() - shift);
        std::vector<std::byte> host(bytes.size());
        const Stream stream(device);
        device.synchronize();
        copy_async(host, bytes, stream);
        stream.synchronize();
        return host;
    }

    FusedCase fused;
    SoftBitFormat format;
    std::size_t shift;  ///< bytes before the soft bits
    std::size_t first;  ///< symbols before those of the call
    DeviceBuffer<phy::cf32> symbols;
    DeviceBuffer<float> noise;
    DeviceBuffer<std::uint32_t> signs;
    DeviceBuffer<std::byte> llr;
};

/// By a demapper of the host, and negated afterwards.
std::vector<std::byte> expected_llr(const FusedCase& fused, std::size_t count, SoftBitFormat format,
                                    phy::DemapCounters* counters = nullptr) {
    const std::vector<phy::cf32> symbols = fused_symbols(fused.modulation, count);
    const std::vector<float> noise = noise_of_symbols(count);
    std::vector<std::byte> bytes(count * bits_per_symbol(fused.modulation) * size_of(format));
    const phy::SoftBitSpan llr(format, bytes);
    phy::SoftDemapper demap(phy::Host(), config_of(fused));
    demap(symbols, fused.per_symbol_noise ? phy::NoiseVariance(noise) : 0.06F, llr, 0, counters);
    return expected_descrambled(format, std::move(bytes));
}

class GpuFusedDescrambling : public testing::TestWithParam<SoftBitFormat> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_P(GpuFusedDescrambling, SingleCalls) {
    const Device device;
    const Stream stream(device);
    for (const FusedCase& fused : fewer_cases(fused_cases())) {
        phy::gpu::SoftDemapper demap(device, config_of(fused));
        for (const std::size_t count : {1, 33, 5003, 40'000}) {
            phy::DemapCounters counters;
            const std::vector<std::byte> expected = expected_llr(fused, count, GetParam(), &counters);
            for (const std::size_t shift : {0, 1}) {
                SCOPED_TRACE(name_of(fused) + ", " + std::to_string(count) + " symbols, shift " +
                             std::to_string(shift) + ", seed " + std::to_string(scrambling_seed));
                FusedCall call(device, fused, count, GetParam(), shift);
                const auto& [modulation, symbols, noise, llr, first_symbol, signs] = call.allocation();
                demap.prepare(noise, GetParam());
                demap(symbols, noise, llr, stream, 0, {}, signs);
                ASSERT_TRUE(call.result(device) == expected);
                DeviceBuffer<phy::DemapCounters> counted(device, 1);
                fill_async(counted, 0, stream);
                demap(symbols, noise, llr, stream, 0, counted, signs);
                phy::DemapCounters result;
                copy_async(std::span(&result, 1), counted, stream);
                stream.synchronize();
                ASSERT_TRUE(call.result(device) == expected);
                ASSERT_EQ(result, counters);
            }
        }
    }
}

/// A span without words may still point to memory.
TEST_P(GpuFusedDescrambling, EmptySignsChangeNothing) {
    const Device device;
    const Stream stream(device);
    const FusedCase fused{phy::Modulation::qam64, phy::Method::max_log, phy::Evaluator::arithmetic, false};
    FusedCall call(device, fused, 5003, GetParam(), 0);
    phy::gpu::Allocation all = call.allocation();
    const phy::gpu::SoftDemapper demap(device, config_of(fused));
    demap(all.symbols, all.noise, all.llr, stream);
    stream.synchronize();
    const std::vector<std::byte> without_signs = call.result(device);
    all.signs = call.signs.first(0);
    demap(all.symbols, all.noise, all.llr, stream, 0, {}, all.signs);
    stream.synchronize();
    EXPECT_TRUE(call.result(device) == without_signs);
    const phy::gpu::BatchDemapper demap_batch(device, {});
    demap_batch({&all, 1}, stream);
    stream.synchronize();
    EXPECT_TRUE(call.result(device) == without_signs);
}

/// Every tile of a call that has many, also the last, which reaches back over the one before.
TEST_P(GpuFusedDescrambling, LargeCalls) {
    const Device device;
    const Stream stream(device);
    for (const phy::Modulation modulation : {phy::Modulation::qam64, phy::Modulation::qam1024}) {
        const FusedCase fused{modulation, phy::Method::max_log, phy::Evaluator::arithmetic, false};
        const std::size_t count = (std::size_t{1} << 20U) + 32;
        FusedCall call(device, fused, count, GetParam(), 0);
        const phy::gpu::SoftDemapper demap(device, config_of(fused));
        const phy::gpu::Allocation all = call.allocation();
        demap(all.symbols, 0.06F, all.llr, stream, 0, {}, all.signs);
        EXPECT_TRUE(call.result(device) == expected_llr(fused, count, GetParam())) << name_of(fused);
    }
}

TEST_P(GpuFusedDescrambling, Batches) {
    const Device device;
    const Stream stream(device);
    for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
        for (const phy::Evaluator evaluator : {phy::Evaluator::arithmetic, phy::Evaluator::table}) {
            for (const bool counts : {false, true}) {
                phy::gpu::BatchDemapper demap(device, {.llr = {.method = method, .evaluator = evaluator}});
                std::vector<FusedCall> calls;
                std::vector<FusedCase> cases;
                std::vector<phy::gpu::Allocation> allocations;
                for (const phy::Modulation modulation : phy::all_modulations) {
                    for (const bool per_symbol : {false, true}) {
                        cases.push_back({modulation, method, evaluator, per_symbol});
                        calls.emplace_back(device, cases.back(), 1003 + 64 * cases.size(), GetParam(),
                                           cases.size() % 3 == 0 ? 1 : 0);
                        allocations.push_back(calls.back().allocation());
                        demap.prepare(modulation, allocations.back().noise, GetParam());
                    }
                }
                DeviceBuffer<phy::DemapCounters> counted(device, counts ? 1 : 0);
                if (counts) fill_async(counted, 0, stream);
                demap(allocations, stream, counted);
                stream.synchronize();
                for (std::size_t i = 0; i < cases.size(); ++i)
                    ASSERT_TRUE(calls[i].result(device) ==
                                expected_llr(cases[i], allocations[i].symbols.size(), GetParam()))
                        << name_of(cases[i]) << (counts ? ", counted" : "") << ", seed " << scrambling_seed;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuFusedDescrambling, testing::ValuesIn(phy::all_soft_bit_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(GpuFusedDescramblingTest, SignsOfAnotherSizeThrow) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    DeviceBuffer<phy::cf32> symbols(device, 20);
    DeviceBuffer<std::int8_t> llr(device, 40);
    DeviceBuffer<std::uint32_t> signs(device, 3);
    const phy::gpu::SoftDemapper demap(device, {.modulation = phy::Modulation::qpsk});
    EXPECT_THROW(demap(symbols, 0.1F, llr, stream, 0, {}, signs), phy::ArgumentError);
    EXPECT_THROW(demap(symbols, 0.1F, llr, stream, 0, {}, signs.first(1)), phy::ArgumentError);
}

}  // namespace
