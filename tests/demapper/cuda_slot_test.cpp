#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "demapper/cuda_calls.hpp"
#include "phy/core/error.hpp"
#include "phy/demapper/slot_demapper.hpp"

namespace {

using phy::Modulation;
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy::gpu::Device;
using phy::gpu::NoiseVariance;
using phy::gpu::SlotDemapper;
using phy_test::Bytes;

constexpr std::size_t max_symbols = 3001;

/// Slots of different symbols, and what the scalar backend makes of them.
class Slots {
public:
    explicit Slots(const SlotDemapper::Config& config)
        : config_(config), scalar_(phy_test::scalar_host(), config.demapper) {}

    /// Returns what is wrong with the next slot; empty if nothing is.
    std::string flaw(SlotDemapper& demapper, std::size_t symbols, float noise_variance, bool per_symbol) {
        const Bytes samples = next_samples(symbols);
        std::ranges::copy(samples, demapper.input().begin());
        std::vector<float> noise(symbols);
        std::uniform_real_distribution<float> factor(0.5F, 2.0F);
        for (float& n0 : noise)
            n0 = noise_variance * factor(random_);
        std::ranges::copy(noise, demapper.noise().begin());
        const auto found =
            per_symbol ? demapper.demap_per_symbol(symbols) : demapper.demap(symbols, noise_variance);

        const std::size_t soft_bits = symbols * bits_per_symbol(config_.demapper.modulation);
        Bytes expected(soft_bits * size_of(config_.output));
        scalar_({config_.input, samples.data(), symbols},
                per_symbol ? phy::NoiseVariance(noise) : phy::NoiseVariance(noise_variance),
                {config_.output, expected.data(), soft_bits});
        if (std::ranges::equal(found, expected)) return "";
        return std::to_string(symbols) + " symbols, N0 " + std::to_string(noise_variance) +
               (per_symbol ? " about" : "") + ", seed " + std::to_string(seed);
    }

private:
    static constexpr unsigned seed = 20260117;

    Bytes next_samples(std::size_t count) {
        std::normal_distribution<float> normal(0.0F, 0.7F);
        std::vector<phy::cf32> symbols(count);
        for (phy::cf32& symbol : symbols)
            symbol = {normal(random_), normal(random_)};
        return phy_test::stored(config_.input, symbols, default_full_scale(config_.input));
    }

    SlotDemapper::Config config_;
    phy::SoftDemapper scalar_;
    std::mt19937 random_{seed};
};

class CudaSlot : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(CudaSlot, GivesTheBytesOfTheScalarBackendWhateverChanges) {
    for (const Modulation modulation : phy::all_modulations) {
        for (const SampleFormat input : {SampleFormat::cf32, SampleFormat::ci16}) {
            for (const SoftBitFormat output : {SoftBitFormat::int8, SoftBitFormat::float16}) {
                const SlotDemapper::Config config = {.demapper = {.modulation = modulation},
                                                     .input = input,
                                                     .output = output,
                                                     .symbols = max_symbols};
                SlotDemapper demapper(Device(), config);
                Slots slots(config);
                // Every kind of call alone, repeated, and after another one.
                for (const std::size_t symbols : {max_symbols, max_symbols, std::size_t{0}, std::size_t{1},
                                                  std::size_t{1000}, std::size_t{1000}}) {
                    for (const float noise_variance : {0.1F, 0.01F}) {
                        for (int call = 0; call < 4; ++call)
                            ASSERT_EQ(slots.flaw(demapper, symbols, noise_variance, false), "");
                    }
                    for (int call = 0; call < 4; ++call)
                        ASSERT_EQ(slots.flaw(demapper, symbols, 0.02F, true), "");
                }
            }
        }
    }
}

TEST_F(CudaSlot, EvaluatesByTableAfterPrepare) {
    const SlotDemapper::Config config = {
        .demapper = {.modulation = Modulation::qam64, .llr = {.method = phy::Method::log_map}},
        .symbols = 300};
    SlotDemapper demapper(Device(), config);
    EXPECT_THROW(demapper.demap(300, 0.1F), phy::ArgumentError);
    demapper.prepare(0.1F);
    Slots slots(config);
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(demapper, 300, 0.1F, false), "");

    demapper.prepare(0.2F);
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(demapper, 300, 0.1F, false), "") << "another table came";
    demapper.clear_tables();
    EXPECT_THROW(demapper.demap(300, 0.1F), phy::ArgumentError) << "no graph may outlive its table";
    demapper.prepare(0.1F);
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(demapper, 300, 0.1F, false), "");
}

TEST_F(CudaSlot, ManyOtherTablesLeaveThatOfItsGraph) {
    const SlotDemapper::Config config = {
        .demapper = {.modulation = Modulation::qam64, .llr = {.method = phy::Method::log_map}},
        .symbols = 300};
    SlotDemapper demapper(Device(), config);
    demapper.prepare(0.1F);
    Slots slots(config);
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(demapper, 300, 0.1F, false), "");
    for (std::size_t n = 0; n < 2 * phy::gpu::SoftDemapper::max_tables; ++n)
        demapper.prepare(0.2F + 0.001F * static_cast<float>(n));
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(demapper, 300, 0.1F, false), "");
}

TEST_F(CudaSlot, TakesPerSymbolNoiseInPrepare) {
    const SlotDemapper::Config config = {
        .demapper = {.modulation = Modulation::qam64, .llr = {.method = phy::Method::log_map}},
        .symbols = 300};
    SlotDemapper demapper(Device(), config);
    demapper.prepare(phy::gpu::DeviceSpan<const float>());
    Slots slots(config);
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(demapper, 300, 0.1F, true), "");
}

TEST_F(CudaSlot, KeepsWhatItHasWhenMoved) {
    const SlotDemapper::Config config = {
        .demapper = {.modulation = Modulation::qam16, .llr = {.method = phy::Method::log_map}},
        .symbols = 200};
    SlotDemapper first(Device(), config);
    first.prepare(0.1F);
    Slots slots(config);
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(first, 200, 0.1F, false), "");
    SlotDemapper second = std::move(first);
    ASSERT_EQ(slots.flaw(second, 200, 0.1F, false), "");
    SlotDemapper third(Device(), {.symbols = 1});
    third = std::move(second);
    for (int call = 0; call < 4; ++call)
        ASSERT_EQ(slots.flaw(third, 200, 0.1F, false), "");
}

TEST_F(CudaSlot, RefusesWhatDoesNotFitAndGoesOn) {
    const SlotDemapper::Config config = {.demapper = {.modulation = Modulation::qam16}, .symbols = 64};
    SlotDemapper demapper(Device(), config);
    EXPECT_EQ(demapper.input().size(), 64 * sizeof(phy::cf32));
    EXPECT_EQ(demapper.noise().size(), 64U);
    Slots slots(config);
    for (int call = 0; call < 4; ++call) {
        EXPECT_THROW(demapper.demap(65, 0.1F), phy::ArgumentError);
        EXPECT_THROW(demapper.demap_per_symbol(65), phy::ArgumentError);
        EXPECT_THROW(demapper.demap(64, 0.0F), phy::ArgumentError);
        EXPECT_THROW(demapper.demap(64, std::numeric_limits<float>::quiet_NaN()), phy::ArgumentError);
        ASSERT_EQ(slots.flaw(demapper, 64, 0.1F, false), "");
    }
    EXPECT_THROW(SlotDemapper(Device(), {.demapper = {.llr = {.clip = 0}}, .symbols = 1}),
                 phy::ArgumentError);
    EXPECT_THROW(SlotDemapper(Device(), {.input = static_cast<SampleFormat>(9), .symbols = 1}),
                 phy::ArgumentError);
    EXPECT_THROW(SlotDemapper(Device(), {.symbols = SIZE_MAX}), phy::gpu::CudaError);
}

}  // namespace
