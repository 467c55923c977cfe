#include "phy/capture/capture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "capture/capture_files.hpp"
#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::CaptureKind;
using phy::hdf5::Dimensions;
using phy::hdf5::NumberKind;
using phy_test::CaptureFile;
using phy_test::Components;
using phy_test::read_components;
using Layout = phy::hdf5::IqLayout::Kind;

constexpr unsigned seed = 1301;

class CaptureKindTest : public testing::Test {
protected:
    /// One antenna of samples at this path, or whatever else its shape makes of it.
    CaptureFile& iq(CaptureFile& file, const std::string& path, const Dimensions& shape = {12}) {
        const std::uint64_t symbols =
            std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
        return file.iq(path, phy_test::packed_layout(Layout::compound, {}), shape,
                       phy_test::random_components(symbols, random_), {});
    }

    CaptureFile& iq(CaptureFile&& file, const std::string& path, const Dimensions& shape = {12}) {
        return iq(file, path, shape);
    }

    phy::CaptureDescription described(const phy::CaptureOptions& options = {}) const {
        return phy::CaptureReader(path_, options).description();
    }

    /// What the reader says of the file, which must be one line that names it.
    std::string rejection(const phy::CaptureOptions& options = {}) const {
        try {
            const phy::CaptureReader reader(path_, options);
        } catch (const phy::FileError& error) {
            std::string line = error.what();
            EXPECT_NE(line.find(path_.string()), std::string::npos) << line;
            EXPECT_EQ(line.find('\n'), std::string::npos) << line;
            return line;
        }
        ADD_FAILURE() << "the capture was accepted";
        return "";
    }

    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "capture.h5";
    std::mt19937 random_{seed};
};

void expect_says(const std::string& line, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(line.find(part), std::string::npos) << "'" << part << "' is not in: " << line;
}

TEST(CaptureKindNames, AreParsed) {
    for (const CaptureKind kind : phy::all_capture_kinds)
        EXPECT_EQ(phy::parse_capture_kind(to_string(kind)), kind);
    EXPECT_EQ(phy::parse_capture_kind("GRID"), CaptureKind::grid);
    try {
        phy::parse_capture_kind("spectrum");
        FAIL() << "the name was accepted";
    } catch (const phy::ArgumentError& error) {
        expect_says(error.what(), {"'spectrum'", "symbols, grid, samples"});
    }
}

class CaptureKindLayouts : public CaptureKindTest,
                           public testing::WithParamInterface<std::tuple<CaptureKind, Layout, NumberKind>> {};

std::string layout_name(const testing::TestParamInfo<CaptureKindLayouts::ParamType>& info) {
    const auto [kind, layout, number] = info.param;
    const char* const name = layout == Layout::compound   ? "compound"
                             : layout == Layout::trailing ? "trailing"
                                                          : "interleaved";
    return std::string(to_string(kind)) + "_" + name + "_" + std::string(to_string(number));
}

INSTANTIATE_TEST_SUITE_P(All, CaptureKindLayouts,
                         testing::Combine(testing::Values(CaptureKind::grid, CaptureKind::samples),
                                          testing::Values(Layout::compound, Layout::trailing,
                                                          Layout::interleaved),
                                          testing::ValuesIn(phy::hdf5::all_number_kinds)),
                         layout_name);

TEST_P(CaptureKindLayouts, ReadsEveryAntenna) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [kind, layout, number] = GetParam();
    const std::string path(phy::default_dataset(kind));
    const Dimensions shape_of_antenna = kind == CaptureKind::grid ? Dimensions{28, 36} : Dimensions{1009};
    for (const hsize_t antennas : {0, 1, 2, 5}) {
        Dimensions shape = shape_of_antenna;
        if (antennas > 0) shape.insert(shape.begin(), antennas);
        const std::uint64_t each = kind == CaptureKind::grid ? 28 * 36 : 1009;
        const std::uint64_t count = std::max<hsize_t>(antennas, 1);
        const Components components = phy_test::random_components(count * each, random_);
        Dimensions chunk = shape;
        for (hsize_t& length : chunk)
            length = (length + 2) / 3;
        const std::endian order = antennas == 2 ? std::endian::big : std::endian::little;
        for (const auto& storage : {CaptureFile::Storage(), {chunk, false}, {chunk, true}}) {
            CaptureFile(path_).iq(path, phy_test::packed_layout(layout, {number, order}), shape, components,
                                  storage);
            phy::CaptureReader reader(path_,
                                      {.interleaved = layout == Layout::interleaved, .full_scale = 1.0});
            const phy::CaptureDescription& capture = reader.description();
            ASSERT_EQ(capture.kind, kind);
            ASSERT_EQ(capture.dataset, path);
            ASSERT_EQ(capture.antennas, count);
            ASSERT_EQ(capture.symbols, count * each);
            ASSERT_EQ(capture.shape, std::vector<std::uint64_t>(shape.begin(), shape.end()));
            for (std::uint64_t antenna = 0; antenna < count; ++antenna)
                ASSERT_EQ(read_components(reader, antenna * each + 17, 500),
                          phy_test::slice(components, antenna * each + 17, 500))
                    << "antenna " << antenna << " of " << antennas;
        }
    }
}

TEST_F(CaptureKindTest, IsToldByTheNameOfTheDataset) {
    CaptureFile file(path_);
    file.group("/rx").group("/rx/grid");
    for (const char* const path : {"/rx/samples", "/rx/symbols", "/samples_2"})
        iq(file, path);
    iq(file, "/rx/grid/data", {14, 12});
    iq(file, "/rx/GRID", {14, 12});
    EXPECT_EQ(described({.dataset = "/rx/samples"}).kind, CaptureKind::samples);
    EXPECT_EQ(described({.dataset = "rx/samples/"}).kind, CaptureKind::samples);
    EXPECT_EQ(described({.dataset = "/rx/symbols"}).kind, CaptureKind::symbols);
    EXPECT_EQ(described({.dataset = "/samples_2"}).kind, CaptureKind::symbols) << "the whole name counts";
    EXPECT_EQ(described({.dataset = "/rx/grid/data"}).kind, CaptureKind::symbols) << "the last name counts";
    EXPECT_EQ(described({.dataset = "/rx/GRID"}).kind, CaptureKind::symbols);
}

TEST_F(CaptureKindTest, IsWhatTheOptionSays) {
    iq(CaptureFile(path_), "/iq", {14, 12});
    for (const CaptureKind kind : phy::all_capture_kinds)
        EXPECT_EQ(described({.dataset = "/iq", .kind = kind}).kind, kind);
    EXPECT_EQ(described({.dataset = "/iq", .kind = CaptureKind::grid}).antennas, 1U);
    EXPECT_EQ(described({.dataset = "/iq", .kind = CaptureKind::samples}).antennas, 14U);
    EXPECT_EQ(described({.kind = CaptureKind::grid}).dataset, "/iq") << "the only one of the file";
    iq(CaptureFile(path_), "/samples");
    EXPECT_EQ(described({.kind = CaptureKind::symbols}).kind, CaptureKind::symbols);
}

TEST_F(CaptureKindTest, FindsTheDatasetByItsDefaultName) {
    CaptureFile file(path_);
    iq(file, "/other");
    iq(file, "/grid", {14, 12});
    EXPECT_EQ(described().dataset, "/grid");
    EXPECT_EQ(described().kind, CaptureKind::grid);
    iq(file, "/samples");
    expect_says(rejection(), {"holds /grid and /samples", "expected the kind of capture, grid or samples"});
    EXPECT_EQ(described({.kind = CaptureKind::grid}).dataset, "/grid");
    EXPECT_EQ(described({.kind = CaptureKind::samples}).dataset, "/samples");
    EXPECT_EQ(described({.dataset = "/other"}).dataset, "/other");
    expect_says(rejection({.kind = CaptureKind::symbols}),
                {"several datasets", "/grid", "/other", "/samples"});
    iq(file, "/iq");
    EXPECT_EQ(described().dataset, "/iq") << "as ever";
    EXPECT_EQ(described().kind, CaptureKind::symbols);
    EXPECT_EQ(described({.kind = CaptureKind::samples}).dataset, "/samples");
}

TEST_F(CaptureKindTest, AGroupIsNoDataset) {
    CaptureFile file(path_);
    file.group("/grid").group("/samples");
    iq(file, "/grid/samples");
    EXPECT_EQ(described().dataset, "/grid/samples");
    EXPECT_EQ(described().kind, CaptureKind::samples);
}

TEST_F(CaptureKindTest, RefusesOtherRanks) {
    const std::string of_grid = "expected a grid of (antennas, OFDM symbols, subcarriers)";
    const std::string of_samples = "expected samples of (antennas, samples)";
    for (const Dimensions& shape : {Dimensions{}, Dimensions{24}, Dimensions{2, 3, 14, 12}}) {
        iq(CaptureFile(path_), "/grid", shape);
        expect_says(rejection(),
                    {"dataset /grid", "compound of float32 and float32", of_grid, "one antenna"});
    }
    for (const Dimensions& shape : {Dimensions{}, Dimensions{2, 3, 4}}) {
        iq(CaptureFile(path_), "/samples", shape);
        expect_says(rejection(), {"dataset /samples", of_samples, "one antenna"});
        EXPECT_EQ(described({.dataset = "/samples", .kind = CaptureKind::symbols}).shape.size(),
                  shape.size());
    }
    // A last dimension of 2 is I and Q.
    const std::vector<float> pairs(2 * 12 * 2);
    CaptureFile(path_).dataset("/grid", H5T_NATIVE_FLOAT, {24, 2}, pairs.data());
    expect_says(rejection(), {"float32 [24, 2]", of_grid});
}

TEST_F(CaptureKindTest, RefusesAntennasThatShareAPairOfNumbers) {
    const std::vector<float> numbers(2 * 7);
    CaptureFile(path_).dataset("/samples", H5T_NATIVE_FLOAT, {2, 7}, numbers.data());
    expect_says(rejection({.interleaved = true}), {"float32 [2, 7]", "expected samples of"});
    EXPECT_EQ(described({.interleaved = true, .kind = CaptureKind::symbols}).symbols, 7U) << "as ever";
}

TEST_F(CaptureKindTest, RefusesSamplesThatAreNone) {
    CaptureFile(path_).dataset("/samples", H5T_NATIVE_FLOAT, {4, 0, 2}, nullptr);
    expect_says(rejection(), {"dataset /samples", "no samples"});
    const std::vector<float> reals(12);
    CaptureFile(path_).dataset("/grid", H5T_NATIVE_FLOAT, {3, 4}, reals.data());
    expect_says(rejection(), {"dataset /grid", "is not IQ but float32 [3, 4]"});
}

TEST_F(CaptureKindTest, GivesTheLinkAsItStandsInTheFile) {
    iq(CaptureFile(path_), "/samples");
    EXPECT_FALSE(described().link.has_value());
    iq(CaptureFile(path_), "/samples").text("/", "link", "{\"a\": 1}\n");
    EXPECT_EQ(described().link, "{\"a\": 1}\n");
    iq(CaptureFile(path_), "/samples").text("/", "link", "{}").text("/samples", "link", "no JSON");
    EXPECT_EQ(described().link, "no JSON") << "that of the dataset";
    iq(CaptureFile(path_), "/grid", {14, 12}).fixed_text("/grid", "link", "{}", 7, H5T_STR_SPACEPAD);
    EXPECT_EQ(described().link, "{}");
    iq(CaptureFile(path_), "/samples").number("/", "link", 1.0);
    expect_says(rejection(), {"attribute link", "expected one string"});
    iq(CaptureFile(path_), "/iq").number("/", "link", 1.0);
    EXPECT_FALSE(described().link.has_value()) << "of symbols it may mean anything";
    iq(CaptureFile(path_), "/iq").text("/", "link", "{}");
    EXPECT_EQ(described().link, "{}");
}

TEST_F(CaptureKindTest, LooksForWhatSymbolsHaveAtSymbolsOnly) {
    const std::vector<float> values(99);
    iq(CaptureFile(path_), "/samples")
        .text("/", "modulation", "ofdm")
        .text("/", "noise_variance", "low")
        .number("/", "full_scale", 100.0)
        .number("/samples", "sample_rate", 30.72e6)
        .number("/", "center_frequency", 3.5e9)
        .dataset("/noise_variance", H5T_NATIVE_FLOAT, {99}, values.data())
        .dataset("/bits", H5T_NATIVE_FLOAT, {99}, values.data());
    const phy::CaptureDescription capture = described();
    EXPECT_FALSE(capture.modulation.has_value());
    EXPECT_FALSE(capture.noise_variance.has_value());
    EXPECT_FALSE(capture.has_noise_per_symbol);
    EXPECT_FALSE(capture.has_bits);
    EXPECT_EQ(capture.full_scale, 100.0);
    EXPECT_EQ(capture.sample_rate, 30.72e6);
    EXPECT_EQ(capture.center_frequency, 3.5e9);
    const phy::CaptureDescription told =
        described({.modulation = phy::Modulation::qam16, .noise_variance = 0.5F});
    EXPECT_EQ(told.modulation, phy::Modulation::qam16);
    EXPECT_EQ(told.noise_variance, 0.5F);
    EXPECT_NE(rejection({.kind = CaptureKind::symbols}).find("'ofdm'"), std::string::npos);
}

class CaptureCodewords : public CaptureKindTest {
protected:
    CaptureFile with_codewords(hid_t type, const Dimensions& shape, const void* data) {
        CaptureFile file(path_);
        iq(file, "/samples").dataset("/codeword", type, shape, data);
        return file;
    }
};

TEST_F(CaptureCodewords, AreReadSlotBySlot) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<std::uint8_t> bits(7 * 100);
    for (auto& bit : bits)
        bit = static_cast<std::uint8_t>(random_() % 2);
    for (const Dimensions& chunk : {Dimensions{}, Dimensions{2, 33}}) {
        iq(CaptureFile(path_), "/samples")
            .dataset("/codeword", H5T_NATIVE_UINT8, {7, 100}, bits.data(), {chunk, !chunk.empty()});
        phy::CaptureReader reader(path_);
        ASSERT_EQ(reader.description().codewords, (phy::CodewordShape{7, 100}));
        for (const std::size_t slot : {6, 0, 3}) {
            std::vector<std::uint8_t> codeword(100);
            reader.read_codeword(slot, codeword);
            const auto first = bits.begin() + static_cast<std::ptrdiff_t>(100 * slot);
            EXPECT_EQ(codeword, std::vector<std::uint8_t>(first, first + 100)) << slot;
        }
    }
}

TEST_F(CaptureCodewords, StandBesideTheirDataset) {
    const std::vector<std::uint8_t> bits(20);
    CaptureFile file(path_);
    file.group("/rx");
    iq(file, "/rx/grid", {14, 12}).dataset("/codeword", H5T_NATIVE_UINT8, {2, 10}, bits.data());
    EXPECT_FALSE(described().codewords.has_value());
    file.dataset("/rx/codeword", H5T_NATIVE_UINT8, {4, 5}, bits.data());
    EXPECT_EQ(described().codewords, (phy::CodewordShape{4, 5}));
    EXPECT_FALSE(described({.kind = CaptureKind::symbols}).codewords.has_value()) << "symbols have bits";
}

TEST_F(CaptureCodewords, AreUint8OfTwoDimensions) {
    const std::vector<std::uint16_t> values(100);
    const auto rejected = [&](hid_t type, const Dimensions& shape) {
        with_codewords(type, shape, shape.front() == 0 ? nullptr : values.data());
        return rejection();
    };
    const std::string expected = "expected uint8 of (slots, bits of a codeword)";
    expect_says(rejected(H5T_NATIVE_UINT8, {20}), {"dataset /codeword", "uint8 [20]", expected});
    expect_says(rejected(H5T_NATIVE_UINT8, {2, 5, 2}), {"uint8 [2, 5, 2]", expected});
    expect_says(rejected(H5T_NATIVE_UINT8, {0, 10}), {"uint8 [0, 10]", expected});
    expect_says(rejected(H5T_NATIVE_INT8, {2, 10}), {"int8 [2, 10]", expected});
    expect_says(rejected(H5T_NATIVE_UINT16, {2, 10}), {"uint16 [2, 10]", expected});
}

TEST_F(CaptureCodewords, AreOfZerosAndOnes) {
    std::vector<std::uint8_t> bits(20, 1);
    bits[13] = 2;
    with_codewords(H5T_NATIVE_UINT8, {2, 10}, bits.data());
    phy::CaptureReader reader(path_);
    std::vector<std::uint8_t> codeword(10);
    EXPECT_NO_THROW(reader.read_codeword(0, codeword));
    try {
        reader.read_codeword(1, codeword);
        FAIL() << "a bit of 2 was read";
    } catch (const phy::FileError& error) {
        expect_says(error.what(), {path_.string(), "/codeword", "0 and 1"});
    }
}

TEST_F(CaptureCodewords, RefusesReadsThatDoNotFit) {
    const std::vector<std::uint8_t> bits(20);
    with_codewords(H5T_NATIVE_UINT8, {2, 10}, bits.data());
    std::vector<std::uint8_t> codeword(10);
    {
        phy::CaptureReader reader(path_);
        EXPECT_THROW(reader.read_codeword(2, codeword), phy::ArgumentError);
        EXPECT_THROW(reader.read_codeword(0, std::span(codeword).first(9)), phy::ArgumentError);
        EXPECT_THROW(reader.read_bits(0, codeword), phy::ArgumentError);
    }
    iq(CaptureFile(path_), "/samples");
    phy::CaptureReader without(path_);
    EXPECT_THROW(without.read_codeword(0, codeword), phy::ArgumentError);
}

}  // namespace
