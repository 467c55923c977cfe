#include "phy/mapper/mapper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "support/equations.hpp"
#include "support/unnamed.hpp"

namespace {

using phy::BitPacking;
using phy::Host;
using phy::Mapper;
using phy::Modulation;
using phy::SampleFormat;
using Bytes = std::vector<std::uint8_t>;

constexpr unsigned seed = 38211;

Bytes random_bits(std::size_t count) {
    std::mt19937 random(seed);
    Bytes bits(count);
    for (std::uint8_t& bit : bits)
        bit = static_cast<std::uint8_t>(random() >> 31);
    return bits;
}

Bytes packed(const Bytes& bits) {
    Bytes bytes((bits.size() + 7) / 8);
    phy::pack_bits(bits, bytes);
    return bytes;
}

/// Symbol n of a sequence of bits.
std::complex<double> expected_symbol(Modulation modulation, const Bytes& bits, std::size_t n) {
    const std::size_t qm = bits_per_symbol(modulation);
    return phy_test::symbol_of(modulation, std::span(bits).subspan(n * qm, qm), n);
}

std::int16_t to_int16(double value) {
    return static_cast<std::int16_t>(std::nearbyint(std::clamp(value, -32767.0, 32767.0)));
}

/// The bytes of a mapped sequence.
Bytes map(const Mapper& mapper, SampleFormat format, std::span<const std::uint8_t> bits, std::size_t symbols,
          std::uint64_t first_symbol = 0) {
    Bytes bytes(symbols * size_of(format));
    mapper(bits, phy::SymbolSpan(format, bytes.data(), symbols), first_symbol);
    return bytes;
}

class MapperOf : public testing::TestWithParam<Modulation> {
protected:
    Modulation modulation() const { return GetParam(); }
    std::size_t qm() const { return bits_per_symbol(GetParam()); }
};

TEST_P(MapperOf, FollowsTheEquationsInEveryFormat) {
    const std::size_t symbols = 4096;
    const Bytes bits = random_bits(symbols * qm());
    std::vector<phy::cf32> wide(symbols);
    std::vector<phy::cf16> narrow(symbols);
    std::vector<phy::ci16> integer(symbols);
    const Mapper mapper(Host(), {.modulation = modulation(), .full_scale = 10000.0F});
    mapper(bits, wide);
    mapper(bits, narrow);
    mapper(bits, integer);
    for (std::size_t n = 0; n < symbols; ++n) {
        const auto expected = expected_symbol(modulation(), bits, n);
        const auto re = static_cast<float>(expected.real());
        const auto im = static_cast<float>(expected.imag());
        ASSERT_EQ(wide[n], phy::cf32(re, im)) << n;
        ASSERT_EQ(narrow[n], (phy::cf16{phy::half(re), phy::half(im)})) << n;
        ASSERT_EQ(integer[n].re, to_int16(expected.real() * 10000.0)) << n;
        ASSERT_EQ(integer[n].im, to_int16(expected.imag() * 10000.0)) << n;
    }
}

TEST_P(MapperOf, RandomBitsHaveUnitMeanPower) {
    const std::size_t symbols = 100'000;
    std::vector<phy::cf32> mapped(symbols);
    Mapper(Host(), {.modulation = modulation()})(random_bits(symbols * qm()), mapped);
    double power = 0.0;
    for (const phy::cf32 symbol : mapped)
        power += std::norm(std::complex<double>(symbol));
    // The power of one symbol has a standard deviation below 0.7.
    EXPECT_NEAR(power / static_cast<double>(symbols), 1.0, 4 * 0.7 / std::sqrt(symbols)) << "seed " << seed;
}

TEST_P(MapperOf, PackedEqualsOnePerByteAtEveryLength) {
    const Mapper one_per_byte(Host(), {.modulation = modulation(), .full_scale = 8192.0F});
    const Mapper from_packed(
        Host(), {.modulation = modulation(), .packing = BitPacking::packed, .full_scale = 8192.0F});
    for (const SampleFormat format : {SampleFormat::cf32, SampleFormat::cf16, SampleFormat::ci16}) {
        for (std::size_t symbols = 0; symbols <= 70; ++symbols) {
            SCOPED_TRACE(std::string(to_string(format)) + ", " + std::to_string(symbols) + " symbols");
            const Bytes bits = random_bits(symbols * qm());
            ASSERT_EQ(map(from_packed, format, packed(bits), symbols),
                      map(one_per_byte, format, bits, symbols));
        }
    }
}

TEST_P(MapperOf, TrailingBitsOfTheLastByteAreIgnored) {
    const std::size_t symbols = 3;
    const Mapper mapper(Host(), {.modulation = modulation(), .packing = BitPacking::packed});
    Bytes bytes = packed(random_bits(symbols * qm()));
    const Bytes expected = map(mapper, SampleFormat::cf32, bytes, symbols);
    const std::size_t used = symbols * qm() % 8;
    if (used != 0) bytes.back() = static_cast<std::uint8_t>(bytes.back() | 0xFF >> used);
    EXPECT_EQ(map(mapper, SampleFormat::cf32, bytes, symbols), expected);
}

TEST_P(MapperOf, OnlyTheLowestBitOfAByteCounts) {
    const std::size_t symbols = 50;
    const Mapper mapper(Host(), {.modulation = modulation(), .full_scale = 8192.0F});
    const Bytes bits = random_bits(symbols * qm());
    Bytes noisy = bits;
    for (std::size_t n = 0; n < noisy.size(); ++n) {
        noisy[n] = static_cast<std::uint8_t>(noisy[n] | (n * 2 & 0xFE));
    }
    EXPECT_EQ(map(mapper, SampleFormat::ci16, noisy, symbols),
              map(mapper, SampleFormat::ci16, bits, symbols));
}

TEST_P(MapperOf, PiecesEqualTheWhole) {
    const std::size_t symbols = 33;
    const Mapper mapper(Host(), {.modulation = modulation()});
    const Bytes bits = random_bits(symbols * qm());
    const Bytes whole = map(mapper, SampleFormat::cf32, bits, symbols);
    for (std::size_t cut = 0; cut <= symbols; ++cut) {
        Bytes pieces = map(mapper, SampleFormat::cf32, std::span(bits).first(cut * qm()), cut);
        const Bytes rest =
            map(mapper, SampleFormat::cf32, std::span(bits).subspan(cut * qm()), symbols - cut, cut);
        pieces.insert(pieces.end(), rest.begin(), rest.end());
        ASSERT_EQ(pieces, whole) << "cut at " << cut;
    }
}

TEST_P(MapperOf, WritesUnalignedMemoryAndNothingElse) {
    const std::size_t symbols = 21;
    const Mapper mapper(Host(), {.modulation = modulation(), .full_scale = 8192.0F});
    const Bytes bits = random_bits(symbols * qm());
    for (const SampleFormat format : {SampleFormat::cf32, SampleFormat::cf16, SampleFormat::ci16}) {
        const Bytes expected = map(mapper, format, bits, symbols);
        for (std::size_t offset = 0; offset < 9; ++offset) {
            Bytes memory(offset + expected.size() + 16, 0xA5);
            Bytes untouched = memory;
            std::copy(expected.begin(), expected.end(),
                      untouched.begin() + static_cast<std::ptrdiff_t>(offset));
            mapper(bits, phy::SymbolSpan(format, memory.data() + offset, symbols));
            ASSERT_EQ(memory, untouched) << to_string(format) << " at offset " << offset;
        }
    }
}

TEST_P(MapperOf, ErrorsWriteNothing) {
    const std::size_t symbols = 8;
    for (const BitPacking packing : {BitPacking::one_per_byte, BitPacking::packed}) {
        const Mapper mapper(Host(), {.modulation = modulation(), .packing = packing});
        const std::size_t bytes = packing == BitPacking::packed ? qm() : 8 * qm();
        std::vector<phy::cf32> out(symbols, phy::cf32(7.0F, 7.0F));
        EXPECT_THROW(mapper(Bytes(bytes + 1), out), phy::ArgumentError);
        EXPECT_THROW(mapper(Bytes(bytes - 1), out), phy::ArgumentError);
        EXPECT_EQ(out, std::vector<phy::cf32>(symbols, phy::cf32(7.0F, 7.0F)));
        std::vector<phy::ci8> out8(symbols, phy::ci8{7, 7});
        EXPECT_THROW(mapper(Bytes(bytes), out8), phy::ArgumentError);
        EXPECT_EQ(out8, std::vector<phy::ci8>(symbols, phy::ci8{7, 7}));
    }
}

std::string test_name(const testing::TestParamInfo<Modulation>& modulation) {
    std::string name(to_string(modulation.param));
    std::erase(name, '-');
    return name;
}
INSTANTIATE_TEST_SUITE_P(, MapperOf, testing::ValuesIn(phy::all_modulations), test_name);

TEST(Mapper, TurnsPi2BpskByTheParityOfTheIndex) {
    const Mapper mapper(Host(), {.modulation = Modulation::pi2_bpsk});
    const float a = std::sqrt(0.5F);
    std::vector<phy::cf32> out(1);
    for (const std::uint64_t even : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 63}) {
        mapper(Bytes{0}, out, even);
        EXPECT_EQ(out[0], phy::cf32(a, a)) << even;
        mapper(Bytes{0}, out, even + 1);
        EXPECT_EQ(out[0], phy::cf32(-a, a)) << even + 1;
        mapper(Bytes{1}, out, even + 1);
        EXPECT_EQ(out[0], phy::cf32(a, -a)) << even + 1;
    }
}

TEST(Mapper, LimitsIntegersToPlusMinus32767) {
    std::vector<phy::ci16> out(2);
    for (const float full_scale : {1e5F, 1e30F}) {
        Mapper(Host(), {.modulation = Modulation::qpsk, .full_scale = full_scale})(Bytes{0, 1, 1, 0}, out);
        EXPECT_EQ(out[0], (phy::ci16{32767, -32767})) << full_scale;
        EXPECT_EQ(out[1], (phy::ci16{-32767, 32767})) << full_scale;
    }
}

TEST(Mapper, WritesNoIntegersWithoutAFullScale) {
    const Mapper mapper(Host(), {.modulation = Modulation::qpsk});
    std::vector<phy::ci16> out(1, phy::ci16{7, 7});
    try {
        mapper(Bytes{0, 1}, out);
        ADD_FAILURE() << "no error";
    } catch (const phy::ArgumentError& error) {
        const std::string text = error.what();
        for (const char* word : {"mapper: ci16", "full_scale", "8192", "demapper"})
            EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    EXPECT_EQ(out[0], (phy::ci16{7, 7}));
    EXPECT_EQ(map(mapper, SampleFormat::cf16, Bytes{0, 1}, 1).size(), 4U);
}

TEST(Mapper, FullScaleOf8192Leaves12Decibel) {
    std::vector<phy::ci16> out(1);
    Mapper(Host(), {.modulation = Modulation::qpsk, .full_scale = 8192.0F})(Bytes{0, 1}, out);
    EXPECT_EQ(out[0], (phy::ci16{5793, -5793}));
}

TEST(Mapper, IsAMapperStillWhenItWasMovedFrom) {
    Mapper mapper(Host(), {.modulation = Modulation::qpsk, .full_scale = 8192.0F});
    const Mapper moved = std::move(mapper);  // NOLINT(performance-move-const-arg)
    const Bytes bits = random_bits(2 * 50);
    // NOLINTNEXTLINE(bugprone-use-after-move)
    EXPECT_EQ(map(mapper, SampleFormat::ci16, bits, 50), map(moved, SampleFormat::ci16, bits, 50));
}

TEST(Mapper, RefusesNumbersThatNameNothing) {
    for (const int number : {-1, 7, 1000}) {
        phy_test::expect_unnamed("modulation", number, 6, [&] {
            const Mapper mapper(Host(), {.modulation = static_cast<Modulation>(number)});
        });
    }
    for (const int number : {-1, 2, 1000}) {
        phy_test::expect_unnamed("bit packing", number, 1, [&] {
            const Mapper mapper(Host(), {.packing = static_cast<BitPacking>(number)});
        });
    }
    const Mapper mapper(Host(), {.modulation = Modulation::qpsk});
    for (const int number : {-1, 4, 1000}) {
        std::vector<std::byte> memory(64, std::byte{7});
        const phy::SymbolSpan symbols(static_cast<SampleFormat>(number), memory.data(), 1);
        phy_test::expect_unnamed("sample format", number, 3, [&] { mapper(Bytes(2), symbols); });
        EXPECT_EQ(memory, std::vector<std::byte>(64, std::byte{7})) << number;
    }
}

TEST(Mapper, ReportsItsConfiguration) {
    const Mapper mapper(
        Host(), {.modulation = Modulation::qam64, .packing = BitPacking::packed, .full_scale = 12.0F});
    EXPECT_EQ(mapper.config().modulation, Modulation::qam64);
    EXPECT_EQ(mapper.config().packing, BitPacking::packed);
    EXPECT_EQ(mapper.config().full_scale, phy::FullScale(12.0F));
}

}  // namespace
