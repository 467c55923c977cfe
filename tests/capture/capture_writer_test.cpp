#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "capture/capture_files.hpp"
#include "capture/file_size_limit.hpp"
#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::CaptureLayout;
using phy::SampleFormat;
using Config = phy::CaptureWriter::Config;

constexpr std::array all_layouts = {CaptureLayout::compound, CaptureLayout::trailing,
                                    CaptureLayout::interleaved, CaptureLayout::chunked, CaptureLayout::gzip};
constexpr unsigned seed = 39;

class CaptureWriterTest : public testing::Test {
protected:
    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "capture.h5";
    std::mt19937 random_{seed};
};

class CaptureWriterLayouts : public CaptureWriterTest,
                             public testing::WithParamInterface<std::tuple<CaptureLayout, SampleFormat>> {};

INSTANTIATE_TEST_SUITE_P(All, CaptureWriterLayouts,
                         testing::Combine(testing::ValuesIn(all_layouts),
                                          testing::ValuesIn(phy::all_sample_formats)),
                         [](const auto& tested) {
                             return std::string(to_string(std::get<0>(tested.param))) + "_" +
                                    std::string(to_string(std::get<1>(tested.param)));
                         });

/// Any bytes but NaN, so that equal values are equal bytes.
std::vector<std::byte> random_symbols(SampleFormat format, std::size_t symbols, std::mt19937& random) {
    std::vector<std::byte> bytes(symbols * size_of(format));
    for (auto& byte : bytes)
        byte = static_cast<std::byte>(random() % 64);
    return bytes;
}

TEST_P(CaptureWriterLayouts, ReaderGetsWhatWasWritten) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [layout, format] = GetParam();
    constexpr std::size_t symbols = 150'000;
    const std::size_t symbol_bytes = size_of(format);
    const std::vector<std::byte> written = random_symbols(format, symbols, random_);
    const phy::SymbolView view(format, written.data(), symbols);

    phy::CaptureWriter writer(path_, {.symbols = symbols,
                                      .format = format,
                                      .layout = layout,
                                      .modulation = phy::Modulation::qam64,
                                      .noise_variance = 0.125F,
                                      .full_scale = 2048.0});
    for (const auto& [first, count] : {std::pair(0, 1), {1, 70'000}, {70'001, 79'999}})
        writer.append(view.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    writer.commit();

    phy::CaptureReader reader(path_, {.interleaved = layout == CaptureLayout::interleaved});
    const phy::CaptureDescription& capture = reader.description();
    EXPECT_EQ(capture.symbols, symbols);
    EXPECT_EQ(capture.format, format);
    EXPECT_EQ(capture.dataset, "/iq");
    EXPECT_EQ(capture.modulation, phy::Modulation::qam64);
    EXPECT_EQ(capture.noise_variance, 0.125F);
    EXPECT_EQ(capture.full_scale, 2048.0);
    std::vector<std::byte> read(symbols * symbol_bytes);
    reader.read(0, {format, read.data(), symbols});
    EXPECT_EQ(read, written);
}

TEST_F(CaptureWriterTest, WritesNoiseAndBitsBesideIq) {
    constexpr std::size_t symbols = 100'000;
    const std::vector<phy::ci16> iq(symbols);
    std::vector<float> noise(symbols);
    std::vector<std::uint8_t> bits(10 * symbols);
    for (auto& value : noise)
        value = static_cast<float>(random_() % 1000);
    for (auto& bit : bits)
        bit = static_cast<std::uint8_t>(random_() % 2);

    phy::CaptureWriter writer(path_, {.symbols = symbols,
                                      .format = SampleFormat::ci16,
                                      .modulation = phy::Modulation::qam1024,
                                      .noise_per_symbol = true,
                                      .bits = true});
    writer.append_bits(std::span(bits).first(300'000));
    writer.append_noise(noise);
    writer.append(iq);
    EXPECT_THROW(writer.commit(), phy::ArgumentError) << "bits are missing";
    writer.append_bits(std::span(bits).subspan(300'000));
    writer.commit();

    phy::CaptureReader reader(path_);
    EXPECT_TRUE(reader.description().has_noise_per_symbol);
    EXPECT_TRUE(reader.description().has_bits);
    EXPECT_EQ(reader.description().bits_per_symbol, 10U);
    std::vector<float> noise_read(symbols);
    std::vector<std::uint8_t> bits_read(10 * symbols);
    reader.read_noise(0, noise_read);
    reader.read_bits(0, bits_read);
    EXPECT_EQ(noise_read, noise);
    EXPECT_EQ(bits_read, bits);
}

TEST_F(CaptureWriterTest, RefusesWhatDoesNotFit) {
    EXPECT_THROW(phy::CaptureWriter(path_, {.symbols = 0}), phy::ArgumentError);
    const std::vector<phy::cf32> iq(10);
    const std::vector<phy::ci8> other(10);
    const std::vector<float> noise(10);
    const std::vector<std::uint8_t> twos(20, 2);
    {
        phy::CaptureWriter writer(path_, {.symbols = 10, .bits = true});
        EXPECT_THROW(writer.append(other), phy::ArgumentError);
        EXPECT_THROW(writer.append_noise(noise), phy::ArgumentError);
        EXPECT_THROW(writer.append_bits(twos), phy::ArgumentError);
        writer.append(iq);
        EXPECT_THROW(writer.append(iq), phy::ArgumentError);
        EXPECT_THROW(writer.commit(), phy::ArgumentError);
    }
    EXPECT_TRUE(directory_.names().empty());
}

class CaptureWriterFailure : public CaptureWriterTest,
                             public testing::WithParamInterface<std::tuple<CaptureLayout, std::size_t>> {};

// The small size fits into the cache of chunks, and so fails as late as it can.
INSTANTIATE_TEST_SUITE_P(All, CaptureWriterFailure,
                         testing::Combine(testing::ValuesIn(all_layouts), testing::Values(20'000, 500'000)));

TEST_P(CaptureWriterFailure, IsAnErrorAndLeavesNothing) {
    const auto [layout, symbols] = GetParam();
    std::vector<phy::cf32> iq(symbols);
    for (auto& symbol : iq)
        symbol = {static_cast<float>(random_()), static_cast<float>(random_())};
    {
        phy::CaptureWriter writer(path_, {.symbols = symbols, .layout = layout});
        const phy_test::FileSizeLimit limit(50'000);
        try {
            writer.append(iq);
            writer.commit();
            ADD_FAILURE() << "more was written than the limit permits";
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos) << error.what();
        }
    }
    EXPECT_TRUE(directory_.names().empty());
}

TEST_F(CaptureWriterTest, IsFinishedAfterCommit) {
    const std::vector<phy::cf32> iq(10);
    phy::CaptureWriter writer(path_, {.symbols = 10});
    writer.append(iq);
    writer.commit();
    EXPECT_THROW(writer.append(iq), phy::ArgumentError);
    EXPECT_THROW(writer.commit(), phy::ArgumentError);
    EXPECT_THROW(phy::CaptureWriter(path_, {.symbols = 10}), phy::FileError) << "exists";
    EXPECT_EQ(directory_.names(), std::vector<std::string>{"capture.h5"});
}

TEST(CaptureLayoutNames, AreParsed) {
    for (const CaptureLayout layout : all_layouts)
        EXPECT_EQ(phy::parse_capture_layout(to_string(layout)), layout);
    EXPECT_THROW(phy::parse_capture_layout("spiral"), phy::ArgumentError);
}

}  // namespace
