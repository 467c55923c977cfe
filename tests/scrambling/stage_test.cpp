#include "phy/scrambling/stage.hpp"

#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "scrambling/scrambling_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SoftBitFormat;

TEST(DescrambleStageTest, ChunksGiveTheSameBytes) {
    constexpr std::size_t items = 5003;
    constexpr std::size_t of_item = 6;
    constexpr std::uint32_t c_init = 99'999'999;
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        const std::vector<std::byte> bytes = random_bytes(items * of_item * size_of(format));
        const std::vector<std::uint8_t> c = gold_reference(c_init, 17 + items * of_item);
        const std::vector<std::byte> expected = expected_descrambled(format, bytes, std::span(c).subspan(17));
        phy::DescrambleStage stage(
            {.c_init = c_init, .format = format, .soft_bits_of_item = of_item, .first = 17});
        for (const std::size_t chunk : {std::size_t{1}, std::size_t{333}, std::size_t{10'000}}) {
            std::vector<std::byte> out(bytes.size());
            phy::Pipeline pipeline({phy::Host()}, stage, {.chunk = chunk});
            phy::MemorySource source(stage.inputs(), {bytes});
            phy::MemorySink sink(stage.outputs(), {out});
            pipeline.run(source, sink);
            EXPECT_TRUE(out == expected) << "chunks of " << chunk << ", seed " << scrambling_seed;
        }
    }
}

TEST(DescrambleStageTest, CodewordsBeginAnew) {
    constexpr std::size_t of_item = 6;
    constexpr std::size_t codeword_items = 77;
    constexpr std::size_t codewords = 9;
    constexpr std::size_t items = codewords * codeword_items + 5;
    constexpr std::uint32_t c_init = 12'345;
    const std::vector<std::byte> bytes = random_bytes(items * of_item);
    const std::vector<std::uint8_t> of_one = gold_reference(c_init, codeword_items * of_item);
    std::vector<std::uint8_t> c;
    while (c.size() < items * of_item)
        c.insert(c.end(), of_one.begin(), of_one.end());
    const std::vector<std::byte> expected =
        expected_descrambled(SoftBitFormat::int8, bytes, std::span(c).first(items * of_item));
    phy::DescrambleStage stage(
        {.c_init = c_init, .soft_bits_of_item = of_item, .codeword = codeword_items * of_item});
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{50}, std::size_t{10'000}}) {
        std::vector<std::byte> out(bytes.size());
        phy::Pipeline pipeline({phy::Host()}, stage, {.chunk = chunk});
        phy::MemorySource source(stage.inputs(), {bytes});
        phy::MemorySink sink(stage.outputs(), {out});
        pipeline.run(source, sink);
        EXPECT_TRUE(out == expected) << "chunks of " << chunk << ", seed " << scrambling_seed;
    }
}

TEST(DescrambleStageTest, WrongConfigurationsThrow) {
    EXPECT_THROW(phy::DescrambleStage({.c_init = 0x80000000}), phy::ArgumentError);
    EXPECT_THROW(phy::DescrambleStage({.soft_bits_of_item = 0}), phy::ArgumentError);
    EXPECT_THROW(phy::DescrambleStage({.format = static_cast<SoftBitFormat>(3)}), phy::ArgumentError);
}

}  // namespace
