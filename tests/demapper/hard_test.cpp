#include <gtest/gtest.h>

#include <optional>

#include "demapper/awkward_symbols.hpp"
#include "phy/core/error.hpp"
#include "phy/mapper/mapper.hpp"

namespace {

using phy::Modulation;
using phy::SampleFormat;
using phy_test::Input;
using Bits = std::vector<std::uint8_t>;

constexpr std::uint8_t canary = 0xA5;

class HardDemapperOf : public testing::TestWithParam<Modulation> {
protected:
    [[nodiscard]] std::size_t qm() const { return bits_per_symbol(GetParam()); }

    [[nodiscard]] phy::HardDemapper on(const phy::Backend& backend, int threads = 1) const {
        return phy::HardDemapper(phy_test::host_of(backend, threads), {.modulation = GetParam()});
    }

    /// The bits by the definition: the sign of the soft bit.
    [[nodiscard]] Bits signs(const Input& input) const {
        phy::SoftDemapper soft(phy_test::scalar_host(), {.modulation = GetParam()});
        std::vector<float> soft_bits(input.size() * qm());
        soft(input.symbols(), 0.01F, soft_bits);
        Bits bits(soft_bits.size());
        std::ranges::transform(soft_bits, bits.begin(), [](float l) { return l < 0.0F ? 1 : 0; });
        return bits;
    }

    [[nodiscard]] Bits decided(phy::HardDemapper& hard, const Input& input) const {
        Bits bits(input.size() * qm(), canary);
        hard(input.symbols(), bits);
        return bits;
    }
};

TEST_P(HardDemapperOf, DecidesByTheSignOfTheSoftBit) {
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam(), 20'011);
    for (const SampleFormat format : phy::all_sample_formats) {
        const Input input(format, symbols);
        const Bits expected = signs(input);
        for (const phy::Backend& backend : phy_test::host_backends()) {
            for (const int threads : {1, 2, 3}) {
                phy::HardDemapper hard = on(backend, threads);
                ASSERT_EQ(decided(hard, input), expected)
                    << backend.name() << ", " << to_string(format) << ", " << threads << " threads";
            }
        }
    }
}

TEST_P(HardDemapperOf, AtEveryLengthPlaceAndMisalignment) {
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam(), 262);
    for (const SampleFormat format : phy::all_sample_formats) {
        const Input input(format, symbols);
        const Bits whole = signs(input);
        phy_test::Bytes shifted(input.bytes().size() + 64);
        for (const phy::Backend& backend : phy_test::host_backends()) {
            phy::HardDemapper hard = on(backend);
            for (std::size_t count = 0; count <= 130; ++count) {
                const std::size_t offset = count % 64;
                std::ranges::copy(input.bytes(), shifted.begin() + static_cast<std::ptrdiff_t>(offset));
                Bits memory(offset + count * qm() + 64, canary);
                Bits expected = memory;
                std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(count * qm()), count * qm(),
                            expected.begin() + static_cast<std::ptrdiff_t>(offset));
                const phy::SymbolView view(format, shifted.data() + offset, input.size());
                hard(view.subspan(count, count), std::span(memory).subspan(offset, count * qm()), count);
                ASSERT_EQ(memory, expected)
                    << backend.name() << ", " << to_string(format) << ", " << count << " symbols";
            }
        }
    }
}

TEST_P(HardDemapperOf, UndoesTheMapper) {
    const std::size_t symbols = std::size_t{2} << qm();
    Bits sent;
    for (std::size_t n = 0; n < symbols; ++n) {
        for (std::size_t k = qm(); k-- > 0;)
            sent.push_back(static_cast<std::uint8_t>(n / 2 >> k & 1U));
    }
    constexpr float full_scale = 8192.0F;
    const phy::Mapper map(phy::Host(), {.modulation = GetParam(), .full_scale = full_scale});
    phy::HardDemapper hard(phy::Host(), {.modulation = GetParam(), .full_scale = full_scale});
    for (const SampleFormat format : {SampleFormat::cf32, SampleFormat::cf16, SampleFormat::ci16}) {
        phy_test::Bytes bytes(symbols * size_of(format));
        map(sent, phy::SymbolSpan(format, bytes.data(), symbols));
        Bits received(sent.size(), canary);
        hard({format, bytes.data(), symbols}, received);
        EXPECT_EQ(received, sent) << to_string(format);
    }
}

/// With one full scale for both, soft bits do not depend on the format but by its rounding.
TEST_P(HardDemapperOf, SoftBitsOfMappedIntegersAreThoseOfFloats) {
    const std::size_t symbols = std::size_t{2} << qm();
    Bits sent;
    for (std::size_t n = 0; n < symbols; ++n) {
        for (std::size_t k = qm(); k-- > 0;)
            sent.push_back(static_cast<std::uint8_t>(n / 2 >> k & 1U));
    }
    const auto soft_bits = [&](SampleFormat format, std::optional<float> full_scale) {
        phy_test::Bytes bytes(symbols * size_of(format));
        const phy::SymbolSpan mapped(format, bytes.data(), symbols);
        phy::Mapper(phy::Host(), {.modulation = GetParam(), .full_scale = full_scale})(sent, mapped);
        std::vector<float> llr(sent.size());
        phy::SoftDemapper(phy::Host(), {.modulation = GetParam(), .full_scale = full_scale.value_or(0.0F)})(
            mapped, 1.0F, llr);
        return llr;
    };
    const std::vector<float> expected = soft_bits(SampleFormat::cf32, {});
    for (const float full_scale : {8192.0F, 1000.0F}) {
        const std::vector<float> llr = soft_bits(SampleFormat::ci16, full_scale);
        // A component is off by half an integer at most, and the slope of a soft bit is at most 8.
        for (std::size_t i = 0; i < llr.size(); ++i)
            ASSERT_NEAR(llr[i], expected[i], 8.0F * 0.5F / full_scale) << i << ", full scale " << full_scale;
    }
}

TEST_P(HardDemapperOf, ErasedComponentsGiveZero) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<phy::cf32> symbols = {{nan, nan}, {-infinity, -infinity}, {-nan, infinity}};
    for (const phy::Backend& backend : phy_test::host_backends()) {
        Bits bits(symbols.size() * qm(), canary);
        on(backend)(symbols, bits);
        EXPECT_EQ(bits, Bits(bits.size(), 0)) << backend.name();
    }
}

TEST_P(HardDemapperOf, AWrongSizeIsAnErrorThatWritesNothing) {
    phy::HardDemapper hard = on(phy::Backend::best());
    const std::vector<phy::cf32> symbols(5);
    for (const std::size_t size : {std::size_t{0}, 5 * qm() - 1, 5 * qm() + 1}) {
        Bits bits(size, canary);
        EXPECT_THROW(hard(symbols, bits), phy::ArgumentError) << size;
        EXPECT_EQ(bits, Bits(size, canary));
    }
}

INSTANTIATE_TEST_SUITE_P(, HardDemapperOf, testing::ValuesIn(phy::all_modulations),
                         [](const auto& test) { return phy_test::test_name(test.param); });

TEST(HardDemapper, ReportsItsConfigurationAndHost) {
    for (const phy::Backend& backend : phy_test::host_backends()) {
        const phy::Host host = phy_test::host_of(backend, 2);
        const phy::DemapperConfig config = {.modulation = Modulation::qam64, .full_scale = 3.0F};
        const phy::HardDemapper hard(host, config);
        EXPECT_EQ(&hard.host().pool(), &host.pool());
        EXPECT_EQ(hard.config(), config);
    }
}

TEST(HardDemapper, RefusesValuesOutOfRange) {
    for (const float full_scale : {-1.0F, std::nanf(""), HUGE_VALF}) {
        EXPECT_THROW(phy::HardDemapper(phy::Host(), {.full_scale = full_scale}), phy::ArgumentError)
            << full_scale;
    }
}

}  // namespace
