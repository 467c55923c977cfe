#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "demapper/cuda_calls.hpp"
#include "demapper/signals.hpp"

/// Calls of other sizes run by other kernels. Next to each limit the bytes and the counts are those of a CPU.
namespace {

using phy::DemapCounters;
using phy::Modulation;

constexpr std::size_t largest = (1 << 20) + 1;

constexpr std::size_t words_of(std::size_t bits) {
    return (bits + 31) / 32;
}

struct Kind {
    bool per_symbol;
    bool signs;
    bool counts;
    std::size_t misalignment;  ///< of the soft bits, in bytes
};

constexpr Kind kinds[] = {{false, false, false, 0}, {true, false, false, 0}, {false, true, false, 0},
                          {true, true, true, 0},    {false, false, true, 1}, {true, true, false, 3}};

class CudaCallSizes : public testing::TestWithParam<Modulation> {
protected:
    void SetUp() override {
        PHY_NEEDS_GPU();
        const auto some = phy_test::awkward_symbols(GetParam(), 10'007);
        for (std::size_t i = 0; i < largest; ++i) {
            symbols_.push_back(some.symbols[i % some.symbols.size()]);
            noise_.push_back(some.noise[i % some.noise.size()]);
        }
        std::mt19937 random(phy_test::awkward_seed);
        signs_.resize(words_of(largest * bits_per_symbol(GetParam())));
        std::ranges::generate(signs_, std::ref(random));
        const phy::gpu::Device device;
        const phy::gpu::Stream stream(device);
        device_symbols_ = phy::gpu::DeviceBuffer<phy::cf32>(device, symbols_.size());
        device_noise_ = phy::gpu::DeviceBuffer<float>(device, noise_.size());
        device_signs_ = phy::gpu::DeviceBuffer<std::uint32_t>(device, signs_.size());
        copy_async(device_symbols_, symbols_, stream);
        copy_async(device_noise_, noise_, stream);
        copy_async(device_signs_, signs_, stream);
        stream.synchronize();
    }

    void expect_equality(std::size_t count, const Kind& kind) {
        const std::size_t bits = count * bits_per_symbol(GetParam());
        const std::size_t words = kind.signs ? words_of(bits) : 0;
        constexpr float n0 = 0.01F;
        constexpr std::uint64_t first_symbol = 77;

        phy::SoftDemapper on_host(phy::Host(), {.modulation = GetParam()});
        std::vector<std::int8_t> expected(bits);
        DemapCounters expected_counts;
        const std::span symbols = std::span<const phy::cf32>(symbols_).first(count);
        on_host(symbols,
                kind.per_symbol ? phy::NoiseVariance(std::span<const float>(noise_).first(count))
                                : phy::NoiseVariance(n0),
                expected, first_symbol, kind.counts ? &expected_counts : nullptr,
                std::span<const std::uint32_t>(signs_).first(words));

        const phy::gpu::Device device;
        const phy::gpu::Stream stream(device);
        const phy::gpu::SoftDemapper on_device(device, {.modulation = GetParam()});
        phy::gpu::DeviceBuffer<std::int8_t> llr(device, bits + kind.misalignment);
        phy_test::DeviceCounters counters(device, {});
        const auto to = llr.subspan(kind.misalignment, bits);
        on_device(device_symbols_.first(count),
                  kind.per_symbol ? phy::gpu::NoiseVariance(device_noise_.first(count))
                                  : phy::gpu::NoiseVariance(n0),
                  to, stream, first_symbol,
                  kind.counts ? counters.get() : phy::gpu::DeviceSpan<DemapCounters>(),
                  device_signs_.first(words));
        std::vector<std::int8_t> soft_bits(bits);
        copy_async(std::span(soft_bits), to, stream);
        stream.synchronize();
        EXPECT_TRUE(std::ranges::equal(soft_bits, expected));
        const DemapCounters counts = counters.value();
        EXPECT_EQ(counts.erasures, expected_counts.erasures);
        EXPECT_EQ(counts.saturated, expected_counts.saturated);
    }

private:
    std::vector<phy::cf32> symbols_;
    std::vector<float> noise_;
    std::vector<std::uint32_t> signs_;
    phy::gpu::DeviceBuffer<phy::cf32> device_symbols_;
    phy::gpu::DeviceBuffer<float> device_noise_;
    phy::gpu::DeviceBuffer<std::uint32_t> device_signs_;
};

TEST_P(CudaCallSizes, GiveTheBytesOfACpu) {
    for (const std::size_t count : {std::size_t{1 << 19} - 1, std::size_t{1 << 19}, std::size_t{1 << 19} + 13,
                                    std::size_t{1 << 20} - 16, std::size_t{1 << 20}, largest}) {
        for (const Kind& kind : kinds) {
            SCOPED_TRACE(testing::Message()
                         << count << " symbols, N0 per symbol " << kind.per_symbol << ", signs " << kind.signs
                         << ", counts " << kind.counts << ", seed " << phy_test::awkward_seed);
            expect_equality(count, kind);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, CudaCallSizes, testing::ValuesIn(phy::all_modulations),
                         [](const auto& modulation) {
                             std::string name(to_string(modulation.param));
                             std::erase_if(name, [](char c) { return c == '-' || c == '/'; });
                             return name;
                         });

}  // namespace
