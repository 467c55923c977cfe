#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>

#include "demapper/cuda_calls.hpp"
#include "phy/core/error.hpp"

namespace {

using phy::DemapCounters;
using phy::Evaluator;
using phy::Method;
using phy::Modulation;
using phy::SoftBitFormat;
using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy::gpu::DeviceSpan;
using phy::gpu::NoiseVariance;
using phy::gpu::SoftDemapper;
using phy_test::RecordedCalls;

static_assert(!std::is_copy_constructible_v<SoftDemapper>);
static_assert(std::is_nothrow_move_constructible_v<SoftDemapper>);

constexpr float usable_noise = 0.1F;

/// Every symbol of an input of 300 in one call.
RecordedCalls recorded_for(const SoftDemapper& demap, SoftBitFormat format) {
    phy::SoftDemapper scalar(phy_test::scalar_host(), demap.config());
    const phy_test::Input input(phy::SampleFormat::cf32,
                                phy_test::awkward_symbols(demap.config().modulation, 300));
    const phy_test::Window all{.first = 0, .count = 300};
    return phy_test::recorded_calls(scalar, input, {false, usable_noise}, format, {&all, 1});
}

void expect_equality(const SoftDemapper& demap, SoftBitFormat format) {
    const RecordedCalls recorded = recorded_for(demap, format);
    phy_test::DeviceCallMemory memory(demap.device());
    phy_test::call_all(demap, recorded.calls(memory.fill(recorded)), memory.stream());
    ASSERT_EQ(recorded.difference(memory.contents()), "");
}

/// An error is thrown, and nothing was written.
void expect_refusal(const SoftDemapper& demap, std::size_t symbols, NoiseVariance noise,
                    std::size_t soft_bits) {
    const phy::gpu::Stream stream(demap.device());
    DeviceBuffer<phy::cf32> in(demap.device(), symbols);
    DeviceBuffer<float> out(demap.device(), soft_bits);
    phy_test::DeviceCounters counters(demap.device(), {.erasures = 3, .saturated = 4});
    phy::gpu::fill_async(in, 0, stream);
    phy::gpu::fill_async(out, 0, stream);
    EXPECT_THROW(demap(in, noise, out, stream), phy::ArgumentError);
    EXPECT_THROW(demap(in, noise, out, stream, 0, counters.get()), phy::ArgumentError);
    std::vector<float> after(soft_bits, 7.0F);
    phy::gpu::copy_async(after, out, stream);
    stream.synchronize();
    EXPECT_EQ(after, std::vector<float>(soft_bits, 0.0F));
    EXPECT_EQ(counters.value(), (DemapCounters{.erasures = 3, .saturated = 4}));
}

class CudaSoftDemapper : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(CudaSoftDemapper, RefusesSizesThatDoNotFit) {
    const Device device;
    const DeviceBuffer<float> noise(device, 7);
    for (const Modulation modulation : phy::all_modulations) {
        SCOPED_TRACE(to_string(modulation));
        const SoftDemapper demap(device, {.modulation = modulation});
        const std::size_t bits = 6 * bits_per_symbol(modulation);
        expect_refusal(demap, 6, usable_noise, bits - 1);
        expect_refusal(demap, 6, usable_noise, bits + 1);
        expect_refusal(demap, 6, usable_noise, 0);
        expect_refusal(demap, 0, usable_noise, 1);
        expect_refusal(demap, 6, noise, bits);
        expect_refusal(demap, 6, noise.first(5), bits);
        expect_refusal(demap, 6, DeviceSpan<const float>(), bits);
    }
}

TEST_F(CudaSoftDemapper, RefusesNoiseThatIsNotFiniteAndPositive) {
    for (const Evaluator evaluator : {Evaluator::automatic, Evaluator::arithmetic, Evaluator::table}) {
        SoftDemapper demap(Device(), {.modulation = Modulation::qam16, .llr = {.evaluator = evaluator}});
        for (const float n0 : phy_test::unusable_noise()) {
            SCOPED_TRACE(n0);
            expect_refusal(demap, 6, n0, 24);
            EXPECT_THROW(demap.prepare(n0, SoftBitFormat::int8), phy::ArgumentError);
        }
        demap.prepare(usable_noise, SoftBitFormat::int8);
        EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::int8)) << "after errors";
    }
}

TEST_F(CudaSoftDemapper, RefusesValuesOutOfRange) {
    const Device device;
    for (const float scale : {0.0F, -6.0F, 1.0F / 65.0F, 4097.0F, std::nanf(""), HUGE_VALF})
        EXPECT_THROW(SoftDemapper(device, {.llr = {.scale = scale}}), phy::ArgumentError) << scale;
    for (const int clip : {0, -1, 128, std::numeric_limits<int>::max()})
        EXPECT_THROW(SoftDemapper(device, {.llr = {.clip = clip}}), phy::ArgumentError) << clip;
    EXPECT_THROW(SoftDemapper(device, {.modulation = static_cast<Modulation>(7)}), phy::ArgumentError);
    EXPECT_THROW(SoftDemapper(device, {}).prepare(usable_noise, static_cast<SoftBitFormat>(3)),
                 phy::ArgumentError);
    EXPECT_NO_THROW(SoftDemapper(device, {.llr = {.scale = 1.0F / 64.0F, .clip = 1}}));
    EXPECT_NO_THROW(SoftDemapper(device, {.llr = {.scale = 4096.0F, .clip = 127}}));
}

TEST_F(CudaSoftDemapper, TakesEmptyCalls) {
    const Device device;
    const phy::gpu::Stream stream(device);
    for (const Modulation modulation : phy::all_modulations) {
        const SoftDemapper demap(device, {.modulation = modulation});
        phy_test::DeviceCounters counters(device, {.erasures = 3, .saturated = 4});
        demap({}, usable_noise, phy::gpu::SoftBitSpan(), stream);
        demap({}, usable_noise, phy::gpu::SoftBitSpan(), stream, 1, counters.get());
        demap({}, DeviceSpan<const float>(), phy::gpu::SoftBitSpan(), stream, 0, counters.get());
        stream.synchronize();
        EXPECT_EQ(counters.value(), (DemapCounters{.erasures = 3, .saturated = 4}));
    }
}

TEST_F(CudaSoftDemapper, ReportsWhatItWasGiven) {
    for (const Device& device : Device::all()) {
        const phy::DemapperConfig config = {
            .modulation = Modulation::qam1024,
            .llr = {.method = Method::log_map, .evaluator = Evaluator::table, .scale = 2.0F, .clip = 31},
            .full_scale = 9.0F};
        const SoftDemapper demap(device, config);
        EXPECT_EQ(demap.device(), device);
        EXPECT_EQ(demap.config(), config);
    }
}

/// Whether the evaluators on both sides agree for a configuration; noise is none where each symbol has its
/// own.
void expect_the_evaluator_of_the_cpu(const phy::DemapperConfig& config, std::optional<float> noise) {
    const SoftDemapper demap(Device(), config);
    const phy::SoftDemapper host(phy::Host(), config);
    const std::vector<float> values(4, usable_noise);
    const DeviceBuffer<float> on_device(Device(), values.size());
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        const auto here = noise ? phy::NoiseVariance(*noise) : phy::NoiseVariance(values);
        const auto there = noise ? NoiseVariance(*noise) : NoiseVariance(on_device);
        EXPECT_EQ(demap.evaluator_for(there, format), host.evaluator_for(here, format))
            << to_string(config.modulation) << ", " << to_string(format) << ", N0 " << noise.value_or(0.0F);
    }
}

TEST_F(CudaSoftDemapper, EvaluatesAsTheCpuDoes) {
    std::vector<std::optional<float>> noises = {std::nullopt};
    for (const float n0 : phy_test::all_noise(3.0))
        noises.emplace_back(n0);
    for (const Modulation modulation : phy::all_modulations) {
        for (const Method method : {Method::max_log, Method::log_map}) {
            for (const Evaluator evaluator :
                 {Evaluator::automatic, Evaluator::arithmetic, Evaluator::table}) {
                for (const std::optional<float> noise : noises) {
                    expect_the_evaluator_of_the_cpu(
                        {.modulation = modulation, .llr = {.method = method, .evaluator = evaluator}}, noise);
                }
            }
        }
    }
}

TEST_F(CudaSoftDemapper, NeedsTheTableThatACallUses) {
    const Device device;
    SoftDemapper demap(device, {.modulation = Modulation::qam16, .llr = {.evaluator = Evaluator::table}});
    ASSERT_EQ(demap.evaluator_for(usable_noise, SoftBitFormat::float32), Evaluator::table);
    expect_refusal(demap, 6, usable_noise, 24);

    demap.prepare(usable_noise, SoftBitFormat::int8);
    EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::int8));
    expect_refusal(demap, 6, usable_noise, 24);  // float32

    demap.prepare(usable_noise, SoftBitFormat::float32);
    demap.prepare(usable_noise, SoftBitFormat::float32);
    EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::float32));
    EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::int8));
    expect_refusal(demap, 6, std::nextafter(usable_noise, 1.0F), 24);

    demap.clear_tables();
    expect_refusal(demap, 6, usable_noise, 24);
    demap.prepare(usable_noise, SoftBitFormat::float32);
    EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::float32));
}

TEST_F(CudaSoftDemapper, KeepsTheTablesOfTheLatestN0) {
    const Device device;
    SoftDemapper demap(device, {.modulation = Modulation::qam16, .llr = {.evaluator = Evaluator::table}});
    const auto other_noise = [](std::size_t n) { return 0.5F + 0.001F * static_cast<float>(n); };
    demap.prepare(usable_noise, SoftBitFormat::float32);
    for (std::size_t n = 0; n + 1 < SoftDemapper::max_tables; ++n)
        demap.prepare(other_noise(n), SoftBitFormat::float32);
    EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::float32)) << "as many as are kept";
    demap.prepare(usable_noise, SoftBitFormat::float32);  // now other_noise(0) is the oldest
    demap.prepare(0.25F, SoftBitFormat::float32);
    EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::float32));
    expect_refusal(demap, 6, other_noise(0), 24);
    for (std::size_t n = 0; n < SoftDemapper::max_tables; ++n)
        demap.prepare(other_noise(n), SoftBitFormat::float32);
    expect_refusal(demap, 6, usable_noise, 24);
    demap.prepare(usable_noise, SoftBitFormat::float32);
    EXPECT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::float32));
}

TEST_F(CudaSoftDemapper, TablesOfManyN0TakeBoundedMemory) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools use device memory themselves";
    const Device device;
    SoftDemapper demap(device, {.modulation = Modulation::qam16, .llr = {.evaluator = Evaluator::table}});
    float noise = 0.25F;
    const auto use_as_many_as_are_kept = [&] {
        for (std::size_t n = 0; n < SoftDemapper::max_tables; ++n)
            demap.prepare(noise = std::nextafter(noise, 1.0F), SoftBitFormat::float32);
    };
    use_as_many_as_are_kept();
    EXPECT_TRUE(phy_test::keeps_free_memory(device, use_as_many_as_are_kept));
}

TEST_F(CudaSoftDemapper, GivesTheMemoryOfTablesBack) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools use device memory themselves";
    const Device device;
    SoftDemapper demap(device, {.modulation = Modulation::qam256, .llr = {.method = Method::log_map}});
    const auto use_tables = [&] {
        for (int n = 0; n < 100; ++n) {
            demap.prepare(usable_noise + 0.001F * static_cast<float>(n % 5), SoftBitFormat::float32);
            if (n % 5 == 4) demap.clear_tables();
        }
    };
    use_tables();
    EXPECT_TRUE(phy_test::keeps_free_memory(device, use_tables));
}

TEST_F(CudaSoftDemapper, NeedsNoTableForAnythingElse) {
    const Device device;
    const SoftDemapper one_bit_an_axis(
        device, {.modulation = Modulation::qpsk, .llr = {.evaluator = Evaluator::table}});
    EXPECT_NO_FATAL_FAILURE(expect_equality(one_bit_an_axis, SoftBitFormat::int8));
    const SoftDemapper closed_form(device, {.modulation = Modulation::qam256});
    EXPECT_NO_FATAL_FAILURE(expect_equality(closed_form, SoftBitFormat::float16));
    const SoftDemapper sums(device, {.modulation = Modulation::qam16,
                                     .llr = {.method = Method::log_map, .evaluator = Evaluator::arithmetic}});
    EXPECT_NO_FATAL_FAILURE(expect_equality(sums, SoftBitFormat::float32));
}

TEST_F(CudaSoftDemapper, KeepsItsTablesWhenMoved) {
    const Device device;
    SoftDemapper first(device, {.modulation = Modulation::qam64, .llr = {.method = Method::log_map}});
    first.prepare(usable_noise, SoftBitFormat::int8);
    ASSERT_NO_FATAL_FAILURE(expect_equality(first, SoftBitFormat::int8));
    SoftDemapper second = std::move(first);
    ASSERT_NO_FATAL_FAILURE(expect_equality(second, SoftBitFormat::int8));
    SoftDemapper third(device, {.modulation = Modulation::bpsk});
    third = std::move(second);
    ASSERT_NO_FATAL_FAILURE(expect_equality(third, SoftBitFormat::int8));
}

// Each demapper works on its own device whichever one is current, and leaves that as it was.
TEST_F(CudaSoftDemapper, ServesEveryDeviceFromAnyOther) {
    const std::vector<Device> devices = Device::all();
    for (const Device& current : devices) {
        const phy::gpu::CurrentDevice scope(current);
        for (const Device& device : devices) {
            SCOPED_TRACE("device " + std::to_string(device.ordinal()) + ", current " +
                         std::to_string(current.ordinal()));
            SoftDemapper demap(device, {.modulation = Modulation::qam64, .llr = {.method = Method::log_map}});
            demap.prepare(usable_noise, SoftBitFormat::int8);
            ASSERT_NO_FATAL_FAILURE(expect_equality(demap, SoftBitFormat::int8));
            int now = -1;
            phy::gpu::check(cudaGetDevice(&now));
            EXPECT_EQ(now, current.ordinal());
        }
    }
}

TEST_F(CudaSoftDemapper, LimitsFloat32AsAHostDoes) {
    const Device device;
    const phy::gpu::Stream stream(device);
    std::mt19937 random(64);
    std::vector<phy::cf32> symbols(3000);
    std::vector<float> noise(symbols.size());
    for (std::size_t n = 0; n < symbols.size(); ++n) {
        const float exponent = std::uniform_real_distribution<float>(-100.0F, -40.0F)(random);
        noise[n] = std::exp2(exponent);
        const float far = std::exp2(66.0F + exponent) + 2.0F;
        symbols[n] = {n % 2 == 0 ? far : -far, n % 3 == 0 ? far : -far};
    }
    const DeviceBuffer<phy::cf32> symbols_there = phy::gpu::detail::upload(device, symbols);
    const DeviceBuffer<float> noise_there = phy::gpu::detail::upload(device, noise);
    for (const Modulation modulation : phy::all_modulations) {
        const std::size_t bits = symbols.size() * bits_per_symbol(modulation);
        std::vector<float> expected(bits);
        phy::SoftDemapper(phy::Host(), {.modulation = modulation})(symbols, noise, expected);
        const SoftDemapper demap(device, {.modulation = modulation});
        DeviceBuffer<float> llr(device, bits);
        demap(symbols_there, noise_there, llr, stream);
        std::vector<float> written(bits);
        copy_async(std::span(written), llr.span(), stream);
        stream.synchronize();
        EXPECT_EQ(written, expected) << to_string(modulation);
    }
}

}  // namespace
