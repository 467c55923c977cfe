#include <gtest/gtest.h>

#include <utility>

#include "demapper/awkward_symbols.hpp"

/// One call, the same call cut into pieces, and the same call shared by threads; and what is counted.
namespace {

using phy::DemapCounters;
using phy::Modulation;
using phy::SoftBitFormat;
using phy_test::Bytes;
using phy_test::Input;
using phy_test::NoiseKind;

constexpr NoiseKind noise_kinds[] = {{false, 0.02F}, {true, 0.0F}};

void expect_equal(const DemapCounters& actual, const DemapCounters& expected) {
    EXPECT_EQ(actual.erasures, expected.erasures);
    EXPECT_EQ(actual.saturated, expected.saturated);
}

/// Demaps in pieces of the given sizes, in turn.
Bytes in_pieces(phy::SoftDemapper& demap, const Input& input, const NoiseKind& noise, SoftBitFormat format,
                std::span<const std::size_t> sizes, DemapCounters& counters) {
    const std::size_t qm = bits_per_symbol(demap.config().modulation);
    Bytes bytes(input.size() * qm * size_of(format));
    const phy::SoftBitSpan out(format, bytes.data(), input.size() * qm);
    std::size_t first = 0;
    for (std::size_t piece = 0; first < input.size(); ++piece) {
        const std::size_t count = std::min(sizes[piece % sizes.size()], input.size() - first);
        const std::span values = std::span(input.noise()).subspan(first, count);
        demap(input.symbols().subspan(first, count), noise.of(values), out.subspan(first * qm, count * qm),
              first, &counters);
        first += count;
    }
    return bytes;
}

class Sharing : public testing::TestWithParam<phy_test::Variant> {
protected:
    [[nodiscard]] phy_test::SymbolsWithNoise awkward(std::size_t count) const {
        return phy_test::awkward_symbols(GetParam().modulation, count);
    }
};

TEST_P(Sharing, PiecesEqualTheWhole) {
    const phy_test::SymbolsWithNoise symbols = awkward(3001);
    const std::vector<std::vector<std::size_t>> cuts = {{1, 2, 3, 61, 128, 0, 17}, {1000}, {777, 5}};
    for (const phy::Backend& backend : phy_test::host_backends()) {
        SCOPED_TRACE(backend.name());
        phy::SoftDemapper demap = GetParam().on(backend);
        for (const NoiseKind& noise : noise_kinds) {
            phy_test::for_all_formats(symbols, [&](const Input& input, SoftBitFormat format) {
                DemapCounters whole_counters;
                const Bytes whole = phy_test::demapped(demap, input, noise, format, &whole_counters);
                for (const std::vector<std::size_t>& sizes : cuts) {
                    DemapCounters counters;
                    ASSERT_EQ(in_pieces(demap, input, noise, format, sizes, counters), whole);
                    expect_equal(counters, whole_counters);
                }
            });
        }
    }
}

TEST_P(Sharing, ThreadsEqualOneThread) {
    // Threads take 4096 at a time: enough for three of them, and a part.
    const phy_test::SymbolsWithNoise symbols = awkward(12'331);
    for (const phy::Backend& backend : phy_test::host_backends()) {
        SCOPED_TRACE(backend.name());
        phy::SoftDemapper alone = GetParam().on(backend);
        phy::SoftDemapper two = GetParam().on(backend, 2);
        phy::SoftDemapper three = GetParam().on(backend, 3);
        for (const NoiseKind& noise : noise_kinds) {
            phy_test::for_all_formats(symbols, [&](const Input& input, SoftBitFormat format) {
                DemapCounters expected;
                const Bytes whole = phy_test::demapped(alone, input, noise, format, &expected);
                for (phy::SoftDemapper* shared : {&two, &three}) {
                    DemapCounters counters;
                    ASSERT_EQ(phy_test::demapped(*shared, input, noise, format, &counters), whole);
                    ASSERT_EQ(counters, expected);
                }
            });
        }
    }
}

TEST_P(Sharing, ThreadsServeShortCalls) {
    const phy_test::SymbolsWithNoise symbols = awkward(70);
    phy::SoftDemapper alone = GetParam().on(phy::Backend::scalar());
    phy::SoftDemapper shared = GetParam().on(phy::Backend::best(), 3);
    const Input input(phy::SampleFormat::cf32, symbols);
    const Bytes whole = phy_test::demapped(alone, input, noise_kinds[1], SoftBitFormat::int8);
    for (const std::size_t size : {1U, 2U, 7U, 33U, 64U, 69U, 70U}) {
        DemapCounters counters;
        ASSERT_EQ(in_pieces(shared, input, noise_kinds[1], SoftBitFormat::int8, {{size}}, counters), whole)
            << "pieces of " << size;
    }
}

TEST_P(Sharing, CountersFollowTheirDefinition) {
    const phy_test::SymbolsWithNoise symbols = awkward(3001);
    for (const phy::Backend& backend : phy_test::host_backends()) {
        phy::SoftDemapper demap = GetParam().on(backend);
        for (const NoiseKind& noise :
             {NoiseKind{false, 0.02F}, NoiseKind{false, 1e-6F}, NoiseKind{true, 0.0F}}) {
            phy_test::for_all_formats(symbols, [&](const Input& input, SoftBitFormat format) {
                SCOPED_TRACE(backend.name() + ", " + std::string(to_string(input.format())) + " to " +
                             std::string(to_string(format)) + ", " + name_of(noise));
                DemapCounters counters{.erasures = 1000, .saturated = 2000};
                const Bytes soft_bits = phy_test::demapped(demap, input, noise, format, &counters);
                const std::span own = noise.per_symbol ? std::span(input.noise()) : std::span<const float>();
                DemapCounters expected =
                    phy_test::counted(input.format(), input.bytes(), own, format, soft_bits);
                expected.erasures += 1000;
                expected.saturated += 2000;
                expect_equal(counters, expected);
                EXPECT_EQ(phy_test::demapped(demap, input, noise, format), soft_bits);
            });
        }
    }
}

/// Guaranteed by the arithmetic evaluator only: tables serve one N0.
class SharingArithmetic : public Sharing {};

TEST_P(SharingArithmetic, OneNoiseVarianceForAllEqualsTheSameForEach) {
    phy_test::SymbolsWithNoise symbols = awkward(300);
    for (const phy::Backend& backend : phy_test::host_backends()) {
        phy::SoftDemapper demap = GetParam().on(backend);
        for (const float variance : phy_test::all_noise(2.5)) {
            std::ranges::fill(symbols.noise, variance);
            phy_test::for_all_formats(symbols, [&](const Input& input, SoftBitFormat format) {
                ASSERT_EQ(phy_test::demapped(demap, input, {false, variance}, format),
                          phy_test::demapped(demap, input, {true, 0.0F}, format))
                    << backend.name() << ", N0 " << variance << ", " << to_string(input.format()) << " to "
                    << to_string(format);
            });
        }
    }
}

Bytes repeated(const Bytes& bytes, std::size_t times) {
    Bytes result;
    result.reserve(bytes.size() * times);
    for (std::size_t n = 0; n < times; ++n)
        result.insert(result.end(), bytes.begin(), bytes.end());
    return result;
}

/// Calls whose output does not fit into the caches, with an input that repeats itself: then the output does.
class LargeCalls : public testing::TestWithParam<Modulation> {
protected:
    void expect_repetition(const Input& input, const NoiseKind& noise, SoftBitFormat format) const {
        const std::size_t qm = bits_per_symbol(GetParam());
        phy::SoftDemapper scalar(phy_test::scalar_host(), {.modulation = GetParam()});
        const Bytes once = phy_test::demapped(scalar, input, noise, format);
        const std::size_t times = beyond_caches / once.size() + 1;
        const Bytes symbols = repeated(input.bytes(), times);
        std::vector<float> values;
        for (std::size_t n = 0; n < times; ++n) {
            values.insert(values.end(), input.noise().begin(), input.noise().end());
        }
        for (const phy::Backend& backend : phy_test::host_backends()) {
            for (const auto& [threads, offset] : {std::pair{1, 0}, {3, 5}}) {
                phy::SoftDemapper demap(phy_test::host_of(backend, threads), {.modulation = GetParam()});
                Bytes memory(once.size() * times + 64, canary);
                std::byte* out = memory.data() + offset;
                demap({input.format(), symbols.data(), values.size()}, noise.of(values),
                      {format, out, values.size() * qm});
                ASSERT_TRUE(is_repetition(std::span(memory).subspan(static_cast<std::size_t>(offset)), once))
                    << backend.name() << ", " << threads << " threads, " << to_string(format) << ", "
                    << name_of(noise);
            }
        }
    }

private:
    static constexpr std::size_t beyond_caches = std::size_t{17} << 20;
    static constexpr std::byte canary{0xA5};

    /// `memory` is `once` again and again, and then untouched.
    static bool is_repetition(std::span<const std::byte> memory, const Bytes& once) {
        for (; memory.size() >= once.size(); memory = memory.subspan(once.size())) {
            if (!std::ranges::equal(memory.first(once.size()), once)) return false;
        }
        return std::ranges::all_of(memory, [](std::byte byte) { return byte == canary; });
    }
};

TEST_P(LargeCalls, RepeatWhatRepeats) {
    // An even number, so that pi/2-BPSK repeats too, and no multiple of a vector or a block.
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam(), 4098);
    for (const NoiseKind& noise : noise_kinds) {
        expect_repetition(Input(phy::SampleFormat::cf32, symbols), noise, SoftBitFormat::float32);
        expect_repetition(Input(phy::SampleFormat::ci16, symbols), noise, SoftBitFormat::float16);
        expect_repetition(Input(phy::SampleFormat::ci8, symbols), noise, SoftBitFormat::int8);
    }
}

INSTANTIATE_TEST_SUITE_P(, LargeCalls, testing::ValuesIn(phy::all_modulations),
                         [](const auto& test) { return phy_test::test_name(test.param); });

std::vector<phy_test::Variant> arithmetic_variants() {
    std::vector<phy_test::Variant> variants = phy_test::all_variants();
    std::erase_if(variants, [](const auto& v) { return v.evaluator != phy::Evaluator::arithmetic; });
    return variants;
}

INSTANTIATE_TEST_SUITE_P(, SharingArithmetic, testing::ValuesIn(arithmetic_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

INSTANTIATE_TEST_SUITE_P(, Sharing, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

}  // namespace
