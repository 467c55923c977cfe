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

using phy::CaptureKind;
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

TEST_P(CaptureWriterLayouts, AntennasMayComeSlotBySlot) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [layout, format] = GetParam();
    // Longer than a chunk, and slots that cross its borders.
    constexpr std::uint64_t antennas = 3;
    constexpr std::uint64_t slots = 4;
    constexpr std::uint64_t of_slot = std::uint64_t{14} * 1200;
    for (const CaptureKind kind : {CaptureKind::grid, CaptureKind::samples}) {
        const std::vector<std::uint64_t> shape = kind == CaptureKind::grid
                                                     ? std::vector<std::uint64_t>{antennas, slots * 14, 1200}
                                                     : std::vector<std::uint64_t>{antennas, slots * of_slot};
        constexpr std::uint64_t symbols = antennas * slots * of_slot;
        const std::vector<std::byte> written = random_symbols(format, symbols, random_);
        const phy::SymbolView view(format, written.data(), symbols);
        phy::CaptureWriter writer(path_, {.symbols = symbols,
                                          .format = format,
                                          .layout = layout,
                                          .overwrite = true,
                                          .kind = kind,
                                          .shape = shape});
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
            for (std::uint64_t antenna = 0; antenna < antennas; ++antenna) {
                const std::uint64_t first = (antenna * slots + slot) * of_slot;
                writer.write(first, view.subspan(first, of_slot));
            }
        }
        writer.commit();

        phy::CaptureReader reader(path_, {.interleaved = layout == CaptureLayout::interleaved});
        EXPECT_EQ(reader.description().kind, kind);
        EXPECT_EQ(reader.description().dataset, default_dataset(kind));
        EXPECT_EQ(reader.description().antennas, antennas);
        EXPECT_EQ(reader.description().shape, shape);
        EXPECT_FALSE(reader.description().modulation.has_value());
        std::vector<std::byte> read(written.size());
        reader.read(0, {format, read.data(), symbols});
        EXPECT_TRUE(read == written) << to_string(kind);
    }
}

TEST_P(CaptureWriterLayouts, SymbolsMayHaveAnyShape) {
    const auto [layout, format] = GetParam();
    constexpr std::size_t symbols = 7 * 300 * 40;
    const std::vector<std::byte> written = random_symbols(format, symbols, random_);
    const phy::SymbolView view(format, written.data(), symbols);
    phy::CaptureWriter writer(
        path_, {.symbols = symbols, .format = format, .layout = layout, .shape = {7, 300, 40}});
    writer.append(view.subspan(0, 50'001));
    writer.write(80'000, view.subspan(80'000, 4'000));
    writer.append(view.subspan(50'001, 29'999));
    writer.commit();
    phy::CaptureReader reader(path_, {.interleaved = layout == CaptureLayout::interleaved});
    EXPECT_EQ(reader.description().shape, (std::vector<std::uint64_t>{7, 300, 40}));
    std::vector<std::byte> read(written.size());
    reader.read(0, {format, read.data(), symbols});
    EXPECT_TRUE(read == written) << "seed " << seed;
}

TEST_F(CaptureWriterTest, WritesTheLinkAndCodewords) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    constexpr std::uint64_t slots = 9;
    constexpr std::uint64_t of_slot = 300'000;
    const std::vector<phy::ci16> samples(1000);
    std::vector<std::uint8_t> bits(slots * of_slot);
    for (auto& bit : bits)
        bit = static_cast<std::uint8_t>(random_() % 2);
    phy::CaptureWriter writer(path_, {.symbols = 1000,
                                      .format = SampleFormat::ci16,
                                      .noise_variance = 0.25F,
                                      .full_scale = 1024.0,
                                      .kind = CaptureKind::samples,
                                      .link = R"({"direction": "downlink"})",
                                      .sample_rate = 122.88e6,
                                      .center_frequency = 3.7e9,
                                      .codewords = phy::CodewordShape{slots, of_slot}});
    writer.append(samples);
    EXPECT_THROW(writer.commit(), phy::ArgumentError) << "codewords are missing";
    EXPECT_THROW(writer.append_codewords(std::span(bits).first(of_slot - 1)), phy::ArgumentError);
    writer.append_codewords(std::span(bits).first(of_slot));
    writer.append_codewords(std::span(bits).subspan(of_slot));
    writer.commit();

    phy::CaptureReader reader(path_);
    const phy::CaptureDescription& capture = reader.description();
    EXPECT_EQ(capture.antennas, 1U);
    EXPECT_EQ(capture.link, R"({"direction": "downlink"})");
    EXPECT_EQ(capture.full_scale, 1024.0);
    EXPECT_EQ(capture.sample_rate, 122.88e6);
    EXPECT_EQ(capture.center_frequency, 3.7e9);
    EXPECT_EQ(capture.codewords, (phy::CodewordShape{slots, of_slot}));
    std::vector<std::uint8_t> read;
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        std::vector<std::uint8_t> codeword(of_slot);
        reader.read_codeword(slot, codeword);
        read.insert(read.end(), codeword.begin(), codeword.end());
    }
    EXPECT_TRUE(read == bits);
}

TEST_F(CaptureWriterTest, RefusesWhatItsKindDoesNotHave) {
    const auto expect_refused = [&](Config config, const std::string& reason) {
        config.symbols = config.symbols == 0 ? 24 : config.symbols;
        try {
            const phy::CaptureWriter writer(path_, config);
            ADD_FAILURE() << "accepted where expected: " << reason;
        } catch (const phy::ArgumentError& error) {
            EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
        }
    };
    const phy::CodewordShape codewords = {1, 10};
    expect_refused({.codewords = codewords}, "a capture of symbols has no codewords");
    expect_refused({.noise_per_symbol = true, .kind = CaptureKind::samples},
                   "a capture of samples has neither noise nor bits");
    expect_refused({.bits = true, .kind = CaptureKind::grid, .shape = {2, 12}},
                   "a capture of a grid has neither noise nor bits");
    expect_refused({.kind = CaptureKind::grid}, "shape of a grid: expected 2 or 3 dimensions, found 1");
    expect_refused({.kind = CaptureKind::grid, .shape = {1, 1, 2, 12}}, "found 4");
    expect_refused({.kind = CaptureKind::samples, .shape = {2, 3, 4}},
                   "shape of samples: expected 1 or 2 dimensions, found 3");
    expect_refused({.shape = {5, 5}}, "product is 24");
    expect_refused({.shape = {0, 24}}, "product is 24");
    expect_refused({.shape = {std::uint64_t{1} << 63, 2, 24}}, "product is 24");
    expect_refused({.kind = CaptureKind::samples, .codewords = phy::CodewordShape{0, 10}}, "codewords");
    expect_refused({.kind = CaptureKind::samples, .codewords = phy::CodewordShape{10, 0}}, "codewords");
    EXPECT_TRUE(directory_.names().empty());
}

TEST_F(CaptureWriterTest, RefusesToWriteOutsideOfTheCapture) {
    const std::vector<phy::cf32> iq(10);
    const std::vector<phy::ci8> other(10);
    const std::vector<std::uint8_t> bits(10);
    phy::CaptureWriter writer(path_, {.symbols = 30, .kind = CaptureKind::samples, .shape = {3, 10}});
    EXPECT_THROW(writer.write(21, iq), phy::ArgumentError);
    EXPECT_THROW(writer.write(~std::uint64_t{0}, iq), phy::ArgumentError);
    EXPECT_THROW(writer.write(0, other), phy::ArgumentError);
    EXPECT_THROW(writer.append_codewords(bits), phy::ArgumentError);
    writer.write(20, iq);
    writer.write(0, iq);
    EXPECT_THROW(writer.commit(), phy::ArgumentError) << "the second antenna is missing";
    writer.write(10, iq);
    writer.commit();
    EXPECT_THROW(writer.write(0, iq), phy::ArgumentError) << "after commit";
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
    for (const char* ending : {".npy", ".raw", ".RAW", ".sigmf-data", ".sigmf-meta"}) {
        const auto path = std::filesystem::path(path_).replace_extension(ending);
        EXPECT_THROW(phy::CaptureWriter(path, {.symbols = 10}), phy::ArgumentError) << ending;
    }
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
