#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/demapper/batch.hpp"
#include "scrambling/fused_cases.hpp"
#include "support/fewer_cases.hpp"

/// Soft bits that a demapper has descrambled against those that are negated afterwards.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SoftBitFormat;
using phy::SoftBitSpan;

class FusedDescrambling : public testing::TestWithParam<SoftBitFormat> {
protected:
    struct Made {
        std::vector<std::byte> llr;
        phy::DemapCounters counters;
    };

    /// With room behind an odd number of soft bits, so that they begin anywhere.
    static Made demapped(const phy::Host& host, const FusedCase& fused, std::span<const phy::cf32> symbols,
                         std::span<const std::uint32_t> signs, bool counts, std::size_t shift = 0) {
        const std::size_t bytes = symbols.size() * bits_per_symbol(fused.modulation) * size_of(GetParam());
        const std::vector<float> noise = noise_of_symbols(symbols.size());
        Made made{std::vector<std::byte>(bytes + shift), {}};
        phy::SoftDemapper demap(host, config_of(fused));
        const phy::NoiseVariance n0 = fused.per_symbol_noise ? phy::NoiseVariance(noise) : 0.06F;
        demap(symbols, n0, SoftBitSpan(GetParam(), std::span(made.llr).subspan(shift)), 0,
              counts ? &made.counters : nullptr, signs);
        return made;
    }

    static std::vector<std::byte> descrambled(const Made& made) {
        return expected_descrambled(GetParam(), made.llr);
    }
};

TEST_P(FusedDescrambling, GivesTheBytesOfNegationAfterwards) {
    for (const FusedCase& fused : fewer_cases(fused_cases())) {
        for (const std::size_t count : {1, 33, 5003}) {
            const std::vector<phy::cf32> symbols = fused_symbols(fused.modulation, count);
            const std::vector<std::uint32_t> signs = fused_signs(count * bits_per_symbol(fused.modulation));
            const Made scrambled = demapped(scalar_host(), fused, symbols, {}, true);
            const std::vector<std::byte> expected = descrambled(scrambled);
            for (const phy::Backend& backend : host_backends()) {
                for (const int threads : {1, 3}) {
                    SCOPED_TRACE(name_of(fused) + ", " + backend.name() + ", " + std::to_string(count) +
                                 " symbols, seed " + std::to_string(scrambling_seed));
                    const phy::Host host = host_of(backend, threads);
                    const Made made = demapped(host, fused, symbols, signs, true);
                    ASSERT_TRUE(made.llr == expected);
                    ASSERT_EQ(made.counters, scrambled.counters);
                    ASSERT_TRUE(demapped(host, fused, symbols, signs, false).llr == expected);
                }
            }
        }
    }
}

/// Calls that are streamed past the caches where they have no signs, from a boundary or not.
TEST_P(FusedDescrambling, LargeCallsGiveTheSameBytes) {
    for (const phy::Modulation modulation : {phy::Modulation::qam64, phy::Modulation::qam256}) {
        const FusedCase fused{modulation, phy::Method::max_log, phy::Evaluator::arithmetic, false};
        const std::size_t count =
            (std::size_t{18} << 20U) / bits_per_symbol(modulation) / size_of(GetParam());
        const std::vector<phy::cf32> symbols = fused_symbols(modulation, count);
        const std::vector<std::uint32_t> signs = fused_signs(count * bits_per_symbol(modulation));
        const phy::Host host = host_of(host_backends().front());
        const std::vector<std::byte> expected = descrambled(demapped(host, fused, symbols, {}, false));
        EXPECT_TRUE(demapped(host, fused, symbols, signs, false).llr == expected) << name_of(fused);
        const std::vector<std::byte> shifted = demapped(host, fused, symbols, signs, false, 4).llr;
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), shifted.begin() + 4)) << name_of(fused);
    }
}

TEST_P(FusedDescrambling, EveryAllocationHasItsOwnSigns) {
    constexpr std::size_t count = 700;
    std::vector<std::vector<phy::cf32>> symbols;
    std::vector<std::vector<std::uint32_t>> signs;
    std::vector<std::vector<std::byte>> llr;
    std::vector<phy::Allocation> allocations;
    for (const phy::Modulation modulation : phy::all_modulations) {
        const std::size_t soft_bits = count * bits_per_symbol(modulation);
        symbols.push_back(fused_symbols(modulation, count));
        signs.push_back(modulation == phy::Modulation::qpsk ? std::vector<std::uint32_t>()
                                                            : fused_signs(soft_bits));
        llr.emplace_back(soft_bits * size_of(GetParam()));
    }
    for (std::size_t i = 0; i < symbols.size(); ++i)
        allocations.push_back(
            {phy::all_modulations[i], symbols[i], 0.06F, SoftBitSpan(GetParam(), llr[i]), 0, signs[i]});
    phy::BatchDemapper demap(host_of(host_backends().front(), 3), {});
    demap(allocations);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const FusedCase fused{phy::all_modulations[i], phy::Method::max_log, phy::Evaluator::automatic,
                              false};
        const Made made = demapped(scalar_host(), fused, symbols[i], {}, false);
        ASSERT_TRUE(llr[i] == (signs[i].empty() ? made.llr : descrambled(made))) << name_of(fused);
    }
}

INSTANTIATE_TEST_SUITE_P(All, FusedDescrambling, testing::ValuesIn(phy::all_soft_bit_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(FusedDescramblingTest, SignsOfAnotherSizeThrow) {
    const std::vector<phy::cf32> symbols(20);
    std::vector<std::int8_t> llr(40, 7);
    phy::SoftDemapper demap(phy::Host(), {.modulation = phy::Modulation::qpsk});
    for (const std::size_t words : {1, 3}) {
        const std::vector<std::uint32_t> signs(words);
        EXPECT_THROW(demap(symbols, 0.1F, llr, 0, nullptr, signs), phy::ArgumentError) << words;
    }
    EXPECT_EQ(llr, std::vector<std::int8_t>(40, 7));
}

}  // namespace
