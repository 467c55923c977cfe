#include <gtest/gtest.h>

#include "demapper/awkward_symbols.hpp"

/// What bad samples and bad noise variances do, to their own soft bits and to no others.
namespace {

using phy::DemapCounters;
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy_test::Bytes;
using phy_test::Input;
using phy_test::NoiseKind;
using phy_test::SymbolsWithNoise;

constexpr unsigned seed = 404;
constexpr std::size_t symbol_count = 140;
constexpr float usable_noise = 0.05F;

/// One bad symbol, its components given as "bad" or left as they are.
struct Bad {
    bool i;
    bool q;
    float value;
};

std::vector<Bad> all_bad() {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<Bad> result;
    for (const float value : {nan, -nan, infinity, -infinity}) {
        result.insert(result.end(), {{true, false, value}, {false, true, value}, {true, true, value}});
    }
    return result;
}

class Erasure : public testing::TestWithParam<phy_test::Variant> {
protected:
    Erasure() : qm_(bits_per_symbol(GetParam().modulation)) {
        clean_.symbols = phy_test::NoisySymbols(GetParam().modulation, 13.0, seed).take(symbol_count);
        clean_.noise.assign(symbol_count, usable_noise);
    }

    /// `soft_bits` with +0 for those of a symbol that `erases` says.
    template <typename Erases>
    Bytes with_zeros(Bytes soft_bits, SoftBitFormat format, std::size_t symbol, Erases erases) const {
        const std::size_t size = size_of(format);
        for (std::size_t k = 0; k < qm_; ++k) {
            if (!erases(k)) continue;
            std::fill_n(soft_bits.begin() + static_cast<std::ptrdiff_t>((symbol * qm_ + k) * size), size,
                        std::byte{0});
        }
        return soft_bits;
    }

    /// Calls check(demapper, sample format, soft-bit format, N0) for all that can hold a bad component.
    template <typename Check>
    void for_all_calls(Check check) const {
        for (const phy::Backend& backend : phy_test::host_backends()) {
            phy::SoftDemapper demap = GetParam().on(backend);
            for (const SampleFormat in : {SampleFormat::cf32, SampleFormat::cf16}) {
                for (const SoftBitFormat out : phy::all_soft_bit_formats) {
                    for (const NoiseKind& noise : {NoiseKind{false, usable_noise}, NoiseKind{true, 0.0F}}) {
                        SCOPED_TRACE(backend.name() + ", " + std::string(to_string(in)) + " to " +
                                     std::string(to_string(out)) + ", " + name_of(noise));
                        check(demap, in, out, noise);
                    }
                }
            }
        }
    }

    std::size_t qm_;
    SymbolsWithNoise clean_;
};

TEST_P(Erasure, OfAComponentZeroesItsAxis) {
    for_all_calls([&](phy::SoftDemapper& demap, SampleFormat in, SoftBitFormat out, const NoiseKind& noise) {
        const Bytes clean = phy_test::demapped(demap, Input(in, clean_), noise, out);
        std::size_t at = 0;
        for (const Bad& bad : all_bad()) {
            at = (at + 11) % symbol_count;
            SymbolsWithNoise symbols = clean_;
            const phy::cf32 symbol = symbols.symbols[at];
            symbols.symbols[at] = {bad.i ? bad.value : symbol.real(), bad.q ? bad.value : symbol.imag()};
            const Bytes expected = with_zeros(
                clean, out, at, [&](std::size_t k) { return qm_ == 1 || (k % 2 == 0 ? bad.i : bad.q); });
            DemapCounters counters;
            ASSERT_EQ(phy_test::demapped(demap, Input(in, symbols), noise, out, &counters), expected)
                << "symbol " << at << ": " << symbols.symbols[at];
            ASSERT_EQ(counters.erasures, (bad.i ? 1U : 0U) + (bad.q ? 1U : 0U));
            ASSERT_EQ(phy_test::demapped(demap, Input(in, symbols), noise, out), expected);
        }
    });
}

TEST_P(Erasure, OfANoiseVarianceZeroesItsSymbol) {
    for_all_calls([&](phy::SoftDemapper& demap, SampleFormat in, SoftBitFormat out, const NoiseKind& noise) {
        if (!noise.per_symbol) return;
        const Bytes clean = phy_test::demapped(demap, Input(in, clean_), noise, out);
        std::size_t at = 0;
        for (const float unusable : phy_test::unusable_noise()) {
            at = (at + 19) % symbol_count;
            SymbolsWithNoise symbols = clean_;
            symbols.noise[at] = unusable;
            const Bytes expected = with_zeros(clean, out, at, [](std::size_t) { return true; });
            DemapCounters counters;
            ASSERT_EQ(phy_test::demapped(demap, Input(in, symbols), noise, out, &counters), expected)
                << "symbol " << at << ": N0 " << unusable;
            ASSERT_EQ(counters.erasures, 1U);
        }
    });
}

TEST_P(Erasure, OfEverythingCountsEachCause) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    SymbolsWithNoise symbols = clean_;
    symbols.symbols[7] = {nan, nan};
    symbols.noise[7] = 0.0F;
    symbols.noise[8] = nan;
    for_all_calls([&](phy::SoftDemapper& demap, SampleFormat in, SoftBitFormat out, const NoiseKind& noise) {
        DemapCounters counters;
        phy_test::demapped(demap, Input(in, symbols), noise, out, &counters);
        EXPECT_EQ(counters.erasures, noise.per_symbol ? 4U : 2U);
    });
}

// The greatest finite numbers are samples like others: their soft bits have a sign and the greatest size.
TEST_P(Erasure, IsNotWhatHugeSamplesAre) {
    constexpr float huge = std::numeric_limits<float>::max();
    SymbolsWithNoise symbols = clean_;
    symbols.symbols[3] = {huge, -huge};
    if (qm_ == 1) symbols.symbols[3] = {0.0F, -huge};
    for (const phy::Backend& backend : phy_test::host_backends()) {
        phy::SoftDemapper demap = GetParam().on(backend);
        for (const NoiseKind& noise : {NoiseKind{false, usable_noise}, NoiseKind{true, 0.0F}}) {
            DemapCounters counters;
            const Bytes soft_bits = phy_test::demapped(demap, Input(SampleFormat::cf32, symbols), noise,
                                                       SoftBitFormat::int8, &counters);
            const auto outermost = [&](std::size_t k) {
                return phy_test::soft_bit(SoftBitFormat::int8, soft_bits, 3 * qm_ + k);
            };
            EXPECT_EQ(outermost(0), qm_ == 1 ? -127.0 : 127.0) << backend.name() << ", " << name_of(noise);
            if (qm_ > 1) {
                EXPECT_EQ(outermost(1), -127.0) << backend.name() << ", " << name_of(noise);
            }
            EXPECT_EQ(counters.erasures, 0U);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Erasure, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

}  // namespace
