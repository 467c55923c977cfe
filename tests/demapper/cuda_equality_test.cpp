#include <gtest/gtest.h>

#include <optional>

#include "demapper/cuda_calls.hpp"
#include "demapper/table_cases.hpp"

/// A device gives the bytes of the scalar backend, by single calls and by batches, wherever symbols and soft
/// bits lie.
namespace {

using phy::SoftBitFormat;
using phy_test::DeviceDemappers;
using phy_test::Input;
using phy_test::NoiseKind;
using phy_test::RecordedCalls;
using phy_test::Window;

class CudaEquality : public testing::TestWithParam<phy_test::Variant> {
protected:
    void SetUp() override {
        PHY_NEEDS_GPU();
        subject_.emplace(phy::gpu::Device(), GetParam().config());
    }

    [[nodiscard]] phy_test::SymbolsWithNoise awkward(std::size_t size) const {
        return phy_test::awkward_symbols(GetParam().modulation, size);
    }

    void expect_equality(const Input& input, const NoiseKind& noise, SoftBitFormat format,
                         std::span<const Window> windows) {
        expect_equality(*subject_, scalar_, input, noise, format, windows);
    }

    static void expect_equality(DeviceDemappers& subject, phy::SoftDemapper& scalar, const Input& input,
                                const NoiseKind& noise, SoftBitFormat format,
                                std::span<const Window> windows) {
        const RecordedCalls recorded = phy_test::recorded_calls(scalar, input, noise, format, windows);
        subject.prepare(noise, format);
        ASSERT_EQ(subject.difference(recorded), "") << "seed " << phy_test::awkward_seed;
    }

    /// All formats and kinds of noise.
    void expect_equality_of(std::size_t symbol_count, float scalar_noise,
                            const std::vector<Window>& windows) {
        for (const bool per_symbol : {false, true}) {
            phy_test::for_all_formats(awkward(symbol_count), [&](const Input& input, SoftBitFormat format) {
                if (HasFatalFailure()) return;
                expect_equality(input, {per_symbol, scalar_noise}, format, windows);
            });
        }
    }

    phy::SoftDemapper scalar_ = GetParam().on(phy::Backend::scalar());
    std::optional<DeviceDemappers> subject_;
};

TEST_P(CudaEquality, AtEveryLength) {
    expect_equality_of(262, 0.003F, phy_test::fewer_cases(phy_test::windows_of_every_length()));
}

TEST_P(CudaEquality, AtEveryMisalignment) {
    expect_equality_of(80, 0.05F, phy_test::fewer_cases(phy_test::windows_of_every_misalignment()));
}

TEST_P(CudaEquality, AtEveryPlaceOfAValue) {
    expect_equality_of(262, 0.0005F, phy_test::fewer_cases(phy_test::windows_of_every_place()));
}

TEST_P(CudaEquality, InLongCalls) {
    std::vector<Window> windows = phy_test::long_windows(20'012);
    windows.push_back({.first = 0, .count = 20'012});
    windows.push_back({.first = 16, .count = 19'984});  // ends at a multiple of 16 bytes, in part of a tile
    windows.push_back({.first = 4, .count = 8192});
    windows.push_back({.first = 4, .count = 8193, .out_offset = 16});
    expect_equality_of(20'012, 0.01F, windows);
}

TEST_P(CudaEquality, AtEveryNoiseVariance) {
    const Input input(phy::SampleFormat::cf32, awkward(300));
    const std::vector<Window> windows = {{.first = 0, .count = 300},
                                         {.first = 1, .count = 299, .in_offset = 8}};
    // A table takes its time to build, and the extreme variances have none.
    const double step = GetParam().evaluator == phy::Evaluator::table ? 9.0 : 1.5;
    for (const float n0 : phy_test::fewer_cases(phy_test::all_noise(step))) {
        for (const SoftBitFormat format : phy::all_soft_bit_formats)
            ASSERT_NO_FATAL_FAILURE(expect_equality(input, {false, n0}, format, windows)) << "N0 " << n0;
    }
    subject_->clear_tables();
    expect_equality(input, {false, 0.1F}, SoftBitFormat::int8, windows);
}

TEST_P(CudaEquality, AtOtherScalesAndClips) {
    const std::vector<Window> windows = {{.first = 0, .count = 300},
                                         {.first = 1, .count = 299, .out_offset = 5}};
    const Input floats(phy::SampleFormat::cf32, awkward(300));
    const Input integers(phy::SampleFormat::ci16, awkward(300));
    for (const float scale : {1.0F / 64.0F, 0.5F, 16.0F, 4096.0F}) {
        for (const int clip : {1, 31, 120}) {
            phy::DemapperConfig config = GetParam().config();
            config.llr.scale = scale;
            config.llr.clip = clip;
            config.full_scale = 20'000.0F;
            DeviceDemappers subject(phy::gpu::Device(), config);
            phy::SoftDemapper scalar(phy_test::scalar_host(), config);
            SCOPED_TRACE("scale " + std::to_string(scale) + ", clip " + std::to_string(clip));
            for (const bool per_symbol : {false, true}) {
                for (const Input* input : {&floats, &integers}) {
                    ASSERT_NO_FATAL_FAILURE(expect_equality(subject, scalar, *input, {per_symbol, 0.02F},
                                                            SoftBitFormat::int8, windows));
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, CudaEquality, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

class CudaTables : public testing::TestWithParam<phy_test::TableCase> {};

TEST_P(CudaTables, GiveTheBytesOfTheScalarBackend) {
    PHY_NEEDS_GPU();
    const phy_test::TableCase& table = GetParam();
    const Input input(phy::SampleFormat::cf32, phy_test::awkward_symbols(table.modulation, 20'012));
    const std::vector<Window> windows = {{.first = 0, .count = 20'012},
                                         {.first = 16, .count = 19'984},
                                         {.first = 1, .count = 999, .in_offset = 8}};
    phy::SoftDemapper scalar(phy_test::scalar_host(), table.config());
    DeviceDemappers subject(phy::gpu::Device(), table.config());
    const NoiseKind noise{false, table.noise};
    const RecordedCalls recorded = phy_test::recorded_calls(scalar, input, noise, table.format, windows);
    subject.prepare(noise, table.format);
    EXPECT_EQ(subject.difference(recorded), "") << "seed " << phy_test::awkward_seed;
}

INSTANTIATE_TEST_SUITE_P(, CudaTables, testing::ValuesIn(phy_test::table_cases),
                         [](const auto& table) { return std::string(table.param.name); });

TEST(CudaPi2Bpsk, KnowsTheParityOfAnyFirstSymbol) {
    PHY_NEEDS_GPU();
    const Input input(phy::SampleFormat::cf32, phy_test::awkward_symbols(phy::Modulation::pi2_bpsk, 1001));
    phy::SoftDemapper scalar(phy_test::scalar_host(), {.modulation = phy::Modulation::pi2_bpsk});
    DeviceDemappers subject(phy::gpu::Device(), {.modulation = phy::Modulation::pi2_bpsk});
    RecordedCalls recorded;
    for (const std::uint64_t first :
         {std::uint64_t{1}, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32,
          (std::uint64_t{1} << 32) + 1, (std::uint64_t{1} << 40) + 1, (std::uint64_t{1} << 63) + 1,
          ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
        std::vector<std::int8_t> expected(input.size());
        scalar(input.symbols(), 0.1F, expected, first);
        recorded.add({phy::Modulation::pi2_bpsk, input.format(), SoftBitFormat::int8, {false, 0.1F}, first},
                     input.bytes(), input.noise(), std::as_bytes(std::span(expected)));
    }
    EXPECT_EQ(subject.difference(recorded), "");
}

}  // namespace
