#include "phy/coding/transport_block_size.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include "phy/coding/transport_block.hpp"
#include "phy/core/error.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using phy::Modulation;
using phy::transport_block_size;
using phy::TransportBlockResources;

constexpr Modulation modulations[] = {Modulation::pi2_bpsk, Modulation::qpsk,   Modulation::qam16,
                                      Modulation::qam64,    Modulation::qam256, Modulation::qam1024};

Modulation modulation_of(std::size_t bits) {
    return *std::find_if(std::begin(modulations), std::end(modulations),
                         [&](Modulation modulation) { return bits_per_symbol(modulation) == bits; });
}

struct Row {
    int resource_blocks, symbols, dmrs_elements, overhead;
    double code_rate_x1024;
    std::size_t bits_per_symbol;
    int layers;
    double scaling;
    std::size_t size;
};

constexpr Row rows_of_sionna[] = {
#include "coding/transport_block_sizes.inc"
};

TEST(TransportBlockSizeTest, AsSionna) {
    for (const Row& row : rows_of_sionna) {
        const TransportBlockResources resources = {.resource_blocks = row.resource_blocks,
                                                   .symbols = row.symbols,
                                                   .dmrs_elements = row.dmrs_elements,
                                                   .overhead = row.overhead,
                                                   .code_rate = row.code_rate_x1024 / 1024,
                                                   .modulation = modulation_of(row.bits_per_symbol),
                                                   .layers = row.layers,
                                                   .scaling = row.scaling};
        EXPECT_EQ(transport_block_size(resources), row.size)
            << "row " << &row - rows_of_sionna << " of transport_block_sizes.inc";
    }
}

/// Table 5.1.3.2-1.
constexpr std::uint64_t table_sizes[] = {
    24,   32,   40,   48,   56,   64,   72,   80,   88,   96,   104,  112,  120,  128,  136,  144,
    152,  160,  168,  176,  184,  192,  208,  224,  240,  256,  272,  288,  304,  320,  336,  352,
    368,  384,  408,  432,  456,  480,  504,  528,  552,  576,  608,  640,  672,  704,  736,  768,
    808,  848,  888,  928,  984,  1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320, 1352, 1416,
    1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216, 2280, 2408, 2472, 2536,
    2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824};

/// Clause 5.1.3.2 in whole numbers: bits in units of 2^-13, as R is one of 2^-11 and S one of 2^-2.
std::uint64_t size_in_whole_numbers(const TransportBlockResources& of) {
    constexpr std::uint64_t unit = 1U << 13U;
    const auto elements = static_cast<std::uint64_t>(
        std::min(156, 12 * of.symbols - of.dmrs_elements - of.overhead) * of.resource_blocks);
    const std::uint64_t information = elements * static_cast<std::uint64_t>(of.code_rate * 2048) *
                                      static_cast<std::uint64_t>(of.scaling * 4) *
                                      bits_per_symbol(of.modulation) * static_cast<std::uint64_t>(of.layers);
    const auto log2_of = [&](std::uint64_t bits) {
        int log2 = 0;
        while (bits >> (log2 + 1) >= unit)
            ++log2;
        return log2;
    };
    if (information <= 3824 * unit) {
        const std::uint64_t step = unit << std::max(3, log2_of(information) - 6);
        const std::uint64_t least = std::max<std::uint64_t>(24, information / step * step / unit);
        return *std::lower_bound(std::begin(table_sizes), std::end(table_sizes), least);
    }
    const std::uint64_t rest = information - 24 * unit;
    const std::uint64_t step = unit << (log2_of(rest) - 5);
    const std::uint64_t quantized = std::max<std::uint64_t>(3840, (rest + step / 2) / step * step / unit);
    const bool is_low = of.code_rate <= 0.25;
    std::uint64_t blocks = 1;
    if (is_low || quantized > 8424)
        blocks = (quantized + 24 + (is_low ? 3815 : 8423)) / (is_low ? 3816 : 8424);
    return (quantized + 24 + 8 * blocks - 1) / (8 * blocks) * 8 * blocks - 24;
}

TransportBlockResources random_resources(std::mt19937& random) {
    const auto from = [&](int first, int last) {
        return std::uniform_int_distribution<>(first, last)(random);
    };
    TransportBlockResources resources;
    resources.resource_blocks = from(0, 1) == 0 ? from(1, 12) : from(1, 275);
    resources.symbols = from(3, 14);
    resources.dmrs_elements = std::min(from(0, 8) * 6, 12 * resources.symbols - 24);
    resources.overhead = from(0, 3) * 6;
    resources.code_rate = from(1, 2048) / 2048.0;
    resources.modulation = modulations[from(0, 5)];
    resources.layers = from(1, 8);
    resources.scaling = 1.0 / (1 << from(0, 2));
    return resources;
}

TEST(TransportBlockSizeTest, IsExactAndDividesIntoCodeBlocks) {
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int i = 0; i < phy_test::fewer_times(100'000); ++i) {
        const TransportBlockResources resources = random_resources(random);
        const std::size_t size = transport_block_size(resources);
        ASSERT_EQ(size, size_in_whole_numbers(resources)) << "round " << i;
        const std::size_t unit =
            bits_per_symbol(resources.modulation) * static_cast<std::size_t>(resources.layers);
        const phy::CodeBlocks blocks = phy::code_blocks({.size = size,
                                                         .code_rate = resources.code_rate,
                                                         .coded_bits = 12 * unit,
                                                         .modulation = resources.modulation,
                                                         .layers = resources.layers});
        // No filler bits but those of the lifting size.
        ASSERT_EQ(blocks.count * (blocks.bits - static_cast<std::size_t>(blocks.code_block_crc)),
                  size + static_cast<std::size_t>(blocks.transport_block_crc))
            << "round " << i;
    }
}

/// N_info = blocks * elements * Qm * R, with 1 to 156 elements.
std::size_t size_of(int resource_blocks, int elements, Modulation modulation, double code_rate) {
    return transport_block_size({.resource_blocks = resource_blocks,
                                 .symbols = 13,
                                 .dmrs_elements = 156 - elements,
                                 .code_rate = code_rate,
                                 .modulation = modulation});
}

TEST(TransportBlockSizeTest, AtMost156ElementsOfAResourceBlockCount) {
    TransportBlockResources resources = {.resource_blocks = 273,
                                         .symbols = 14,
                                         .code_rate = 948.0 / 1024,
                                         .modulation = Modulation::qam256,
                                         .layers = 4};
    EXPECT_EQ(transport_block_size(resources), 1'277'992U) << "168 elements";
    resources.dmrs_elements = 12;
    EXPECT_EQ(transport_block_size(resources), 1'277'992U) << "156 elements";
    resources.dmrs_elements = 18;
    EXPECT_LT(transport_block_size(resources), 1'277'992U) << "150 elements";
    resources.overhead = 18;
    const std::size_t with_overhead = transport_block_size(resources);
    resources.overhead = 0;
    resources.dmrs_elements = 36;
    EXPECT_EQ(transport_block_size(resources), with_overhead);
}

constexpr double just_below_1 = 2047.0 / 2048;
constexpr double just_above_a_quarter = 513.0 / 2048;

TEST(TransportBlockSizeTest, EdgesOfTheTable) {
    EXPECT_EQ(size_of(1, 1, Modulation::bpsk, 1.0 / 2048), 24U);
    EXPECT_EQ(size_of(1, 32, Modulation::bpsk, just_below_1), 24U) << "31.98 bits, quantized down";
    EXPECT_EQ(size_of(1, 32, Modulation::bpsk, 1.0), 32U);
    EXPECT_EQ(size_of(1, 100, Modulation::qpsk, 1.0), 208U) << "200 bits";
    EXPECT_EQ(size_of(239, 2, Modulation::qam256, just_below_1), 3824U) << "3822.1 bits";
    EXPECT_EQ(size_of(239, 2, Modulation::qam256, 1.0), 3824U) << "3824 bits";
    EXPECT_EQ(size_of(240, 2, Modulation::qam256, 2041.0 / 2048), 3840U) << "3826.9 bits";
}

TEST(TransportBlockSizeTest, HalvesAreRoundedUp) {
    // Less 24 they are 32.5 and almost 32.5 times 256. Above 8424 there are two code blocks.
    EXPECT_EQ(size_of(149, 7, Modulation::qam256, 1.0), 8456U) << "8344 bits";
    EXPECT_EQ(size_of(149, 7, Modulation::qam256, just_below_1), 8192U) << "8339.9 bits";
}

TEST(TransportBlockSizeTest, LowCodeRatesHaveShorterCodeBlocks) {
    EXPECT_EQ(size_of(13, 156, Modulation::qam256, 0.25), 4040U) << "two code blocks";
    EXPECT_EQ(size_of(13, 156, Modulation::qam256, just_above_a_quarter), 4032U) << "one";
}

TEST(TransportBlockSizeTest, WrongValuesAreNamed) {
    const auto expect_wrong = [](const char* name, const auto& change) {
        TransportBlockResources resources = {.resource_blocks = 1, .symbols = 2, .code_rate = 0.5};
        EXPECT_NO_THROW(static_cast<void>(transport_block_size(resources)));
        change(resources);
        try {
            static_cast<void>(transport_block_size(resources));
            ADD_FAILURE() << name;
        } catch (const phy::ArgumentError& error) {
            EXPECT_EQ(std::string(error.what()).find(name), 0U) << error.what();
        }
    };
    using Of = TransportBlockResources;
    for (const int wrong : {0, 276})
        expect_wrong("resource_blocks", [&](Of& of) { of.resource_blocks = wrong; });
    for (const int wrong : {0, 15})
        expect_wrong("symbols", [&](Of& of) { of.symbols = wrong; });
    for (const int wrong : {-1, 25})
        expect_wrong("dmrs_elements", [&](Of& of) { of.dmrs_elements = wrong; });
    for (const int wrong : {-6, 5, 24})
        expect_wrong("overhead", [&](Of& of) { of.overhead = wrong; });
    for (const int wrong : {0, 9})
        expect_wrong("layers", [&](Of& of) { of.layers = wrong; });
    for (const double wrong : {0.0, -0.5, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        expect_wrong("code_rate", [&](Of& of) { of.code_rate = wrong; });
        expect_wrong("scaling", [&](Of& of) { of.scaling = wrong; });
    }
    expect_wrong("modulation", [](Of& of) { of.modulation = static_cast<Modulation>(7); });
    expect_wrong("overhead", [](Of& of) {
        of.dmrs_elements = 18;
        of.overhead = 6;
    });
}

}  // namespace
