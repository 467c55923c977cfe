#include "phy/compression/block_float.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "compression/block_float_cases.hpp"
#include "demapper/signals.hpp"
#include "phy/compression/stage.hpp"
#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "support/fenced_pages.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::BlockFloatCompressor;
using phy::BlockFloatConfig;
using phy::BlockFloatDecompressor;
using phy::SampleFormat;

constexpr SampleFormat element_formats[] = {SampleFormat::ci16, SampleFormat::cf32};

std::size_t block_size(SampleFormat format) {
    return 12 * size_of(format);
}

TEST(BlockFloatTest, BytesOfABlock) {
    EXPECT_EQ(phy::bytes_per_block({.width = 9}), 28U);
    EXPECT_EQ(phy::bytes_per_block({.width = 14}), 43U);
    EXPECT_EQ(phy::bytes_per_block({.width = 16, .has_exponent = false}), 48U);
}

/// Written by hand: udCompParam with reserved bits set, then twelve bits of I and of Q.
TEST(BlockFloatTest, MostSignificantBitsComeFirst) {
    Bytes compressed(37);
    const unsigned char first[] = {0xA3, 0x12, 0x3F, 0xFE, 0x80, 0x07, 0xFF};
    std::memcpy(compressed.data(), first, sizeof first);
    std::vector<phy::ci16> elements(12);
    BlockFloatDecompressor(phy::Host(), {.width = 12})(compressed, elements);
    EXPECT_EQ(elements[0], (phy::ci16{0x123 * 8, -2 * 8}));
    EXPECT_EQ(elements[1], (phy::ci16{-2048 * 8, 2047 * 8}));
    EXPECT_EQ(elements[2], (phy::ci16{0, 0}));

    compressed[0] = std::byte{3};
    Bytes again(37);
    BlockFloatCompressor(phy::Host(), {.width = 12})(elements, again);
    EXPECT_EQ(again, compressed);
}

TEST(BlockFloatTest, EveryBackendGivesTheSameElements) {
    for (const BlockFloatConfig& config : compression_configs()) {
        SCOPED_TRACE(text_of(config));
        const Bytes compressed = any_blocks(config, 2100);
        for (const SampleFormat format : element_formats) {
            const Bytes expected = expected_elements(config, compressed, format);
            for (const phy::Backend& backend : host_backends()) {
                for (const int threads : {1, 3}) {
                    Bytes elements(expected.size());
                    BlockFloatDecompressor(host_of(backend, threads), config)(compressed, {format, elements});
                    ASSERT_TRUE(elements == expected)
                        << backend.name() << ", " << to_string(format) << ", " << threads << " threads";
                }
            }
        }
    }
}

TEST(BlockFloatTest, EveryLengthAndAlignmentAndNothingBeyond) {
    constexpr std::size_t most = 20;
    const FencedPages in(most * 49 + 16);
    const FencedPages out(most * 96 + 16);
    for (const BlockFloatConfig& config : fewer_cases(compression_configs())) {
        SCOPED_TRACE(text_of(config));
        for (std::size_t blocks = 0; blocks <= most; ++blocks) {
            const Bytes compressed = any_blocks(config, blocks);
            for (const SampleFormat format : element_formats) {
                const Bytes expected = expected_elements(config, compressed, format);
                for (const phy::Backend& backend : host_backends()) {
                    const BlockFloatDecompressor decompress(host_of(backend), config);
                    // Against the fence after them, then a few bytes behind the one before them.
                    for (const std::size_t shift : {0U, 1U, 2U, 7U}) {
                        std::byte* const from =
                            shift == 0 ? in.before_fence(compressed.size()) : in.after_fence() + shift;
                        std::byte* const to =
                            shift == 0 ? out.before_fence(expected.size()) : out.after_fence() + shift;
                        if (blocks != 0) std::memcpy(from, compressed.data(), compressed.size());
                        decompress({from, compressed.size()}, {format, to, blocks * 12});
                        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to))
                            << backend.name() << ", " << blocks << " blocks, shift " << shift;
                    }
                }
            }
        }
    }
}

/// Components of every magnitude, with the extremes among them.
std::vector<int> any_components(std::size_t blocks) {
    std::mt19937 random(compression_seed);
    std::vector<int> components(24 * blocks);
    for (std::size_t i = 0; i < components.size(); ++i) {
        const unsigned shift = static_cast<unsigned>(i / 24 % 17);
        components[i] = static_cast<std::int16_t>(random() >> 16U) >> shift;
    }
    const int special[] = {-32768, 32767, 0, -1, 1, 255, 256, -256, -257, 16384, -16384, -16385};
    for (std::size_t n = 0; n < std::size(special); ++n) {
        if (components.size() < 24 * (n + 30)) break;
        std::fill_n(components.begin() + static_cast<std::ptrdiff_t>(24 * (n + 20)), 24, 0);
        components[24 * (n + 20) + 2 * n] = special[n];
    }
    return components;
}

TEST(BlockFloatTest, EveryBackendCompressesAlike) {
    const std::vector<int> components = any_components(600);
    Bytes integers;
    std::vector<float> floats;
    for (const int component : components) {
        const auto narrow = static_cast<std::int16_t>(component);
        integers.insert(integers.end(), reinterpret_cast<const std::byte*>(&narrow),
                        reinterpret_cast<const std::byte*>(&narrow) + 2);
        floats.push_back(static_cast<float>(component) / 32768.0F);
    }
    for (BlockFloatConfig config : compression_configs()) {
        config.full_scale = {};
        SCOPED_TRACE(text_of(config));
        const Bytes expected = expected_compressed(config, components);
        for (const phy::Backend& backend : host_backends()) {
            const BlockFloatCompressor compress(host_of(backend, 2), config);
            Bytes compressed(expected.size());
            compress({SampleFormat::ci16, integers}, compressed);
            ASSERT_TRUE(compressed == expected) << backend.name() << ", ci16";
            std::fill(compressed.begin(), compressed.end(), std::byte{});
            compress({SampleFormat::cf32, floats.data(), floats.size() / 2}, compressed);
            ASSERT_TRUE(compressed == expected) << backend.name() << ", cf32";
        }
    }
}

TEST(BlockFloatTest, FloatsAreRoundedToTheNearest) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> floats = {
        0.5F, 1.5F,     2.5F,      -0.5F,  -1.5F, 2.4F,   2.6F, -2.6F, 40000.0F, -4e4F, infinity, -infinity,
        nan,  32767.5F, -32768.5F, 1e-30F, 1e30F, -1e30F, 0.0F, -0.0F, 3.0F,     -3.0F, 100.49F,  -7.51F};
    const std::vector<int> expected = {0,     2,      2,     0,      -2, 2,     3,      -3,
                                       32767, -32768, 32767, -32768, 0,  32767, -32768, 0,
                                       32767, -32768, 0,     0,      3,  -3,    100,    -8};
    const BlockFloatConfig config = {.width = 16, .full_scale = 1.0F};
    Bytes compressed(49);
    BlockFloatCompressor(phy::Host(), config)({SampleFormat::cf32, floats.data(), 12}, compressed);
    EXPECT_EQ(compressed, expected_compressed(config, expected));
}

/// The exponent of a compressor is 0 to 7 for 9 bits, and the error is below one step.
TEST(BlockFloatTest, WhatWasCompressedComesBack) {
    const std::vector<int> components = any_components(600);
    for (int width = 9; width <= 16; ++width) {
        const BlockFloatConfig config = {.width = width};
        const Bytes compressed = expected_compressed(config, components);
        Bytes elements(components.size() * 2);
        BlockFloatDecompressor(phy::Host(), config)(compressed, {SampleFormat::ci16, elements});
        for (std::size_t i = 0; i < components.size(); ++i) {
            std::int16_t component = 0;
            std::memcpy(&component, &elements[2 * i], 2);
            const int exponent = std::to_integer<int>(compressed[i / 24 * reference_block_bytes(config)]);
            ASSERT_LE(exponent, 16 - width);
            ASSERT_LE(component, components[i]);
            ASSERT_LT(components[i] - component, 1 << exponent);
        }
    }
}

TEST(BlockFloatTest, PipelinesGiveTheSameBytes) {
    for (const SampleFormat format : element_formats) {
        const BlockFloatConfig config = {.width = 9};
        const Bytes compressed = any_blocks(config, 1003);
        phy::DecompressStage stage({.compression = config, .output = format});
        for (const std::size_t chunk : {std::size_t{1}, std::size_t{273}, std::size_t{5000}}) {
            Bytes elements(1003 * block_size(format));
            phy::Pipeline pipeline({phy::Host()}, stage, {.chunk = chunk});
            phy::MemorySource source(stage.inputs(), {compressed});
            phy::MemorySink sink(stage.outputs(), {elements});
            pipeline.run(source, sink);
            EXPECT_TRUE(elements == expected_elements(config, compressed, format)) << text_of(config);
        }
    }
}

TEST(BlockFloatTest, WrongArgumentsThrow) {
    const phy::Host host;
    for (const int width : {-1, 0, 17}) {
        EXPECT_THROW(BlockFloatDecompressor(host, {.width = width}), phy::ArgumentError);
        EXPECT_THROW(BlockFloatCompressor(host, {.width = width}), phy::ArgumentError);
        EXPECT_THROW(phy::DecompressStage({.compression = {.width = width}}), phy::ArgumentError);
    }
    EXPECT_THROW(phy::DecompressStage({.output = SampleFormat::ci8}), phy::ArgumentError);

    const BlockFloatDecompressor decompress(host, {.width = 9});
    const BlockFloatCompressor compress(host, {.width = 9});
    Bytes bytes(2 * 28);
    std::vector<phy::ci16> elements(24);
    std::vector<phy::ci8> narrow(24);
    EXPECT_NO_THROW(decompress(bytes, elements));
    for (const std::size_t cut : {0U, 1U, 27U, 28U, 55U}) {
        const auto truncated = std::span(bytes).first(cut);
        EXPECT_THROW(decompress(truncated, elements), phy::ArgumentError) << cut;
        EXPECT_THROW(compress(elements, truncated), phy::ArgumentError) << cut;
    }
    EXPECT_THROW(decompress(bytes, std::span(elements).first(23)), phy::ArgumentError);
    EXPECT_THROW(compress(std::span(elements).first(23), bytes), phy::ArgumentError);
    EXPECT_THROW(decompress(bytes, narrow), phy::ArgumentError);
    EXPECT_THROW(compress(narrow, bytes), phy::ArgumentError);
}

}  // namespace
