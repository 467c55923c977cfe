#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "capture/capture_files.hpp"
#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::hdf5::Dimensions;
using phy::hdf5::IqLayout;
using phy::hdf5::NumberKind;
using phy::hdf5::NumberType;
using phy_test::CaptureFile;
using phy_test::Components;
using phy_test::read_components;
using Kind = phy::hdf5::IqLayout::Kind;

constexpr unsigned seed = 38;

/// How the components of an int32 capture must be opened to come out in the file's units.
phy::CaptureOptions options_for(Kind kind) {
    return {.interleaved = kind == Kind::interleaved, .full_scale = 1.0};
}

std::uint64_t product(const Dimensions& dimensions) {
    return std::accumulate(dimensions.begin(), dimensions.end(), std::uint64_t{1}, std::multiplies<>());
}

/// Reads the whole capture and random parts of it.
void expect_ranges(phy::CaptureReader& reader, const Components& components, std::mt19937& random) {
    const std::uint64_t symbols = components.size() / 2;
    ASSERT_EQ(reader.description().symbols, symbols);
    ASSERT_EQ(read_components(reader, 0, symbols), phy_test::slice(components, 0, symbols));
    ASSERT_EQ(read_components(reader, symbols, 0), std::vector<double>());
    for (int i = 0; i < 25; ++i) {
        const auto first = std::uniform_int_distribution<std::uint64_t>(0, symbols - 1)(random);
        const auto count = std::uniform_int_distribution<std::uint64_t>(1, symbols - first)(random);
        ASSERT_EQ(read_components(reader, first, count), phy_test::slice(components, first, count))
            << "symbols from " << first << " on, " << count;
    }
}

class CaptureReaderTest : public testing::Test {
protected:
    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "capture.h5";
    std::mt19937 random_{seed};
};

class CaptureReaderLayouts : public CaptureReaderTest,
                             public testing::WithParamInterface<std::tuple<Kind, NumberKind, bool>> {
protected:
    Kind kind() const { return std::get<0>(GetParam()); }
    NumberType number() const {
        return {std::get<1>(GetParam()), std::get<2>(GetParam()) ? std::endian::big : std::endian::little};
    }
};

std::string layout_name(const testing::TestParamInfo<CaptureReaderLayouts::ParamType>& info) {
    const auto [kind, number, big_endian] = info.param;
    const char* const kind_name = kind == Kind::compound   ? "compound"
                                  : kind == Kind::trailing ? "trailing"
                                                           : "interleaved";
    return std::string(kind_name) + "_" + std::string(to_string(number)) + (big_endian ? "_big" : "_little");
}

INSTANTIATE_TEST_SUITE_P(All, CaptureReaderLayouts,
                         testing::Combine(testing::Values(Kind::compound, Kind::trailing, Kind::interleaved),
                                          testing::ValuesIn(phy::hdf5::all_number_kinds), testing::Bool()),
                         layout_name);

TEST_P(CaptureReaderLayouts, ReadsAnyRangeOfAnyShapeAndStorage) {
    const IqLayout layout = phy_test::packed_layout(kind(), number());
    const CaptureFile::Storage contiguous;
    for (const Dimensions& shape :
         {Dimensions{1}, Dimensions{331}, Dimensions{7, 12}, Dimensions{3, 5, 4}, Dimensions{2, 3, 1, 6}}) {
        const Components components = phy_test::random_components(product(shape), random_);
        Dimensions chunk;
        for (const hsize_t length : shape)
            chunk.push_back((length + 1) / 2);
        for (const auto& storage : {contiguous, {chunk, false}, {chunk, true}}) {
            SCOPED_TRACE("rank " + std::to_string(shape.size()) + (storage.gzip ? ", gzip" : "") +
                         (storage.chunk.empty() ? "" : ", chunked") + ", seed " + std::to_string(seed));
            CaptureFile(path_).iq("/iq", layout, shape, components, storage);
            phy::CaptureReader reader(path_, options_for(kind()));
            expect_ranges(reader, components, random_);
            EXPECT_EQ(reader.description().shape, std::vector<std::uint64_t>(shape.begin(), shape.end()));
        }
    }
}

TEST_P(CaptureReaderLayouts, ReadsBehindAUserBlock) {
    const Components components = phy_test::random_components(100, random_);
    CaptureFile(path_, 1024).iq("/iq", phy_test::packed_layout(kind(), number()), {100}, components, {});
    phy::CaptureReader reader(path_, options_for(kind()));
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_ranges(reader, components, random_);
}

TEST_P(CaptureReaderLayouts, TellsHowTheCaptureIsStored) {
    const Components components = phy_test::random_components(8, random_);
    CaptureFile(path_).iq("/iq", phy_test::packed_layout(kind(), number()), {8}, components, {{4}, true});
    const phy::CaptureReader reader(path_, options_for(kind()));
    const std::string& storage = reader.description().storage;
    EXPECT_NE(storage.find(to_string(number().kind)), std::string::npos) << storage;
    EXPECT_NE(storage.find("chunked, gzip"), std::string::npos) << storage;
    const bool told_big = storage.find("big-endian") != std::string::npos;
    EXPECT_EQ(told_big, number().order == std::endian::big && number().kind != NumberKind::int8) << storage;
}

TEST_F(CaptureReaderTest, ReadsCompoundsWithPaddingAndInAnyOrderOfOffsets) {
    for (const IqLayout& layout : {IqLayout{Kind::compound, {}, 1, 24, 4, 16},
                                   {Kind::compound, {}, 1, 8, 4, 0},
                                   {Kind::compound, {NumberKind::int16, std::endian::big}, 1, 7, 5, 1}}) {
        for (const auto& storage : {CaptureFile::Storage(), CaptureFile::Storage{{64}, true}}) {
            const Components components = phy_test::random_components(300, random_);
            CaptureFile(path_).iq("/iq", layout, {300}, components, storage);
            phy::CaptureReader reader(path_);
            SCOPED_TRACE("seed " + std::to_string(seed));
            expect_ranges(reader, components, random_);
        }
    }
}

TEST_F(CaptureReaderTest, ReadsMoreThanOneBlockOfConvertedSamples) {
    constexpr std::size_t symbols = 200'000;
    const Components components = phy_test::random_components(symbols, random_);
    CaptureFile(path_).iq("/iq", phy_test::packed_layout(Kind::trailing, {NumberKind::float64}), {symbols},
                          components, {});
    phy::CaptureReader reader(path_);
    EXPECT_EQ(read_components(reader, 1, symbols - 1), phy_test::slice(components, 1, symbols - 1));
}

TEST_F(CaptureReaderTest, ReadsAScalarCompound) {
    const float symbol[2] = {1.0F, -2.0F};
    const phy::hdf5::TypeHandle type(H5Tcreate(H5T_COMPOUND, 8));
    H5Tinsert(type, "r", 0, H5T_IEEE_F32LE);
    H5Tinsert(type, "i", 4, H5T_IEEE_F32LE);
    CaptureFile(path_).dataset("/iq", type, {}, symbol);
    phy::CaptureReader reader(path_);
    EXPECT_EQ(read_components(reader, 0, 1), (std::vector<double>{1.0, -2.0}));
}

TEST_F(CaptureReaderTest, RoundsFloat64ToTheNearestFloat32) {
    const std::vector<double> values = {0.1, 1.0 + 0x1p-24, 1.0 + 0x1.8p-23, -1e-300};
    CaptureFile(path_).dataset("/iq", H5T_IEEE_F64BE, {2, 2}, nullptr);
    {
        const phy::hdf5::FileHandle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
        const phy::hdf5::DatasetHandle dataset(H5Dopen2(file, "/iq", H5P_DEFAULT));
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    }
    phy::CaptureReader reader(path_);
    std::vector<phy::cf32> symbols(2);
    reader.read(0, symbols);
    EXPECT_EQ(symbols[0], phy::cf32(0.1F, 1.0F));
    EXPECT_EQ(symbols[1], phy::cf32(1.0F + 0x1p-22F, -0.0F));
}

TEST_F(CaptureReaderTest, DividesInt32ByFullScale) {
    const std::vector<std::int32_t> values = {std::numeric_limits<std::int32_t>::min(), 1 << 30, 3, -1};
    CaptureFile(path_).dataset("/iq", H5T_NATIVE_INT32, {2, 2}, values.data()).number("/iq", "full_scale", 4);
    std::vector<phy::cf32> symbols(2);

    phy::CaptureReader by_attribute(path_);
    by_attribute.read(0, symbols);
    EXPECT_EQ(symbols[1], phy::cf32(0.75F, -0.25F));

    phy::CaptureReader by_option(path_, {.full_scale = 0x1p31});
    by_option.read(0, symbols);
    EXPECT_EQ(symbols[0], phy::cf32(-1.0F, 0.5F));

    const std::filesystem::path plain = directory_ / "plain.h5";
    CaptureFile(plain).dataset("/iq", H5T_NATIVE_INT32, {2, 2}, values.data());
    phy::CaptureReader by_default(plain);
    by_default.read(0, symbols);
    EXPECT_EQ(symbols[0], phy::cf32(-1.0F, 0.5F));
    EXPECT_FALSE(by_default.description().full_scale.has_value());
}

TEST_F(CaptureReaderTest, FindsTheDataset) {
    const Components one = phy_test::random_components(4, random_);
    const Components other = phy_test::random_components(6, random_);
    CaptureFile(path_).group("/rx").iq("/rx/samples", one);
    EXPECT_EQ(phy::CaptureReader(path_).description().dataset, "/rx/samples") << "the only one";

    CaptureFile(path_).group("/rx").iq("/rx/samples", one).iq("/iq", other);
    EXPECT_EQ(phy::CaptureReader(path_).description().dataset, "/iq") << "by its name";
    EXPECT_EQ(phy::CaptureReader(path_, {.dataset = "/rx/samples"}).description().symbols, 4U);
    EXPECT_EQ(phy::CaptureReader(path_, {.dataset = "rx/samples/"}).description().dataset, "/rx/samples");

    CaptureFile(path_).group("/iq").iq("/iq/data", one);
    EXPECT_EQ(phy::CaptureReader(path_).description().dataset, "/iq/data") << "a group is no dataset";
}

TEST_F(CaptureReaderTest, TakesNoCompanionForIq) {
    const Components components = phy_test::random_components(4, random_);
    const std::vector<float> noise(4, 0.5F);
    const std::vector<std::int8_t> pairs(8, 1);
    CaptureFile(path_)
        .iq("/samples", components)
        .dataset("/noise_variance", H5T_NATIVE_FLOAT, {2, 2}, noise.data())
        .dataset("/llr", H5T_NATIVE_INT8, {4, 2}, pairs.data());
    EXPECT_EQ(phy::CaptureReader(path_).description().dataset, "/samples");
}

TEST_F(CaptureReaderTest, TakesAttributesFromTheDatasetAndElseFromTheRoot) {
    const Components components = phy_test::random_components(4, random_);
    CaptureFile(path_)
        .iq("/iq", components)
        .text("/", "modulation", "qpsk")
        .text("/iq", "modulation", "256QAM")
        .number("/", "noise_variance", 0.25)
        .number("/", "full_scale", 1000)
        .number("/iq", "sample_rate", 30.72e6)
        .number("/", "center_frequency", 3.5e9);
    const phy::CaptureReader reader(path_);
    const phy::CaptureDescription& capture = reader.description();
    EXPECT_EQ(capture.file, path_);
    EXPECT_EQ(capture.modulation, phy::Modulation::qam256);
    EXPECT_EQ(capture.noise_variance, 0.25F);
    EXPECT_EQ(capture.full_scale, 1000.0);
    EXPECT_EQ(capture.sample_rate, 30.72e6);
    EXPECT_EQ(capture.center_frequency, 3.5e9);
    EXPECT_FALSE(capture.has_noise_per_symbol);
    EXPECT_FALSE(capture.has_bits);
}

TEST_F(CaptureReaderTest, ReadsTextOfFixedLength) {
    const Components components = phy_test::random_components(4, random_);
    for (const auto padding : {H5T_STR_NULLTERM, H5T_STR_NULLPAD, H5T_STR_SPACEPAD}) {
        for (const std::size_t length : {5U, 16U}) {
            if (padding == H5T_STR_NULLTERM && length == 5) continue;
            CaptureFile(path_)
                .iq("/iq", components)
                .fixed_text("/iq", "modulation", "16qam", length, padding);
            EXPECT_EQ(phy::CaptureReader(path_).description().modulation, phy::Modulation::qam16);
        }
    }
}

TEST_F(CaptureReaderTest, OptionsReplaceAttributesEvenUnusableOnes) {
    CaptureFile(path_)
        .iq("/iq", phy_test::random_components(4, random_))
        .text("/iq", "modulation", "8psk")
        .text("/iq", "noise_variance", "unknown")
        .number("/iq", "full_scale", -1.0);
    const phy::CaptureReader reader(
        path_, {.full_scale = 2048.0, .modulation = phy::Modulation::qam16, .noise_variance = 0.5F});
    EXPECT_EQ(reader.description().full_scale, 2048.0);
    EXPECT_EQ(reader.description().modulation, phy::Modulation::qam16);
    EXPECT_EQ(reader.description().noise_variance, 0.5F);
}

TEST_F(CaptureReaderTest, OptionsReplaceWhatIsOfAnotherTypeOrShape) {
    const std::vector<std::int16_t> noise(7);
    CaptureFile(path_)
        .iq("/iq", phy_test::random_components(4, random_))
        .number("/iq", "modulation", 16)
        .text("/iq", "noise_variance", "low")
        .text("/", "full_scale", "full")
        .dataset("/noise_variance", H5T_NATIVE_INT16, {7}, noise.data());
    {
        const phy::CaptureReader given(
            path_, {.full_scale = 2048.0, .modulation = phy::Modulation::qam16, .noise_variance = 0.5F});
        EXPECT_EQ(given.description().noise_variance, 0.5F);
        EXPECT_FALSE(given.description().has_noise_per_symbol);
        const phy::CaptureReader ignored(
            path_,
            {.full_scale = 2048.0, .modulation = phy::Modulation::qam16, .ignores_noise_variance = true});
        EXPECT_FALSE(ignored.description().noise_variance.has_value());
    }

    CaptureFile(path_).iq("/samples", phy_test::random_components(4, random_)).number("/", "link", 1);
    EXPECT_EQ(phy::CaptureReader(path_, {.link = "text"}).description().link, "text");
    EXPECT_THROW(phy::CaptureReader{path_}, phy::FileError);
}

TEST_F(CaptureReaderTest, ReadsIAndQOfTwoDatasets) {
    const Components components = phy_test::random_components(600'000, random_);
    const Components few(components.begin(), components.begin() + 24);
    for (const NumberKind kind : phy::hdf5::all_number_kinds) {
        for (const auto order : {std::endian::little, std::endian::big}) {
            const bool is_long = kind == NumberKind::int16;
            const Components& used = is_long ? components : few;
            const Dimensions shape = is_long ? Dimensions{2, 3, 100'000} : Dimensions{1, 3, 4};
            std::vector<double> i;
            std::vector<double> q;
            for (std::size_t n = 0; n < used.size(); n += 2) {
                i.push_back(used[n]);
                q.push_back(used[n + 1]);
            }
            const phy::hdf5::TypeHandle type = phy::hdf5::hdf5_type({kind, order});
            CaptureFile(path_)
                .group("/g")
                .dataset("/g/re", type, shape, nullptr)
                .dataset("/g/im", type, shape, nullptr);
            {
                const phy::hdf5::FileHandle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
                for (const auto& [name, values] : {std::pair("/g/re", &i), {"/g/im", &q}}) {
                    const phy::hdf5::DatasetHandle dataset(H5Dopen2(file, name, H5P_DEFAULT));
                    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values->data());
                }
            }
            phy::CaptureReader reader(
                path_, {.dataset = "/g/re,g/im", .kind = phy::CaptureKind::grid, .full_scale = 1.0});
            EXPECT_EQ(reader.description().dataset, "/g/re,/g/im");
            EXPECT_EQ(reader.description().antennas, shape[0]);
            SCOPED_TRACE("seed " + std::to_string(seed));
            EXPECT_EQ(read_components(reader, 0, i.size()), phy_test::slice(used, 0, i.size()));
            EXPECT_EQ(read_components(reader, 5, 3), phy_test::slice(used, 5, 3));
        }
    }
}

TEST_F(CaptureReaderTest, DatasetsBesideIAndQ) {
    const std::vector<float> numbers(10, 0.5F);
    CaptureFile(path_)
        .group("/g")
        .dataset("/g/i", H5T_NATIVE_FLOAT, {10}, numbers.data())
        .dataset("/g/q", H5T_NATIVE_FLOAT, {10}, numbers.data())
        .dataset("/g/noise_variance", H5T_NATIVE_FLOAT, {10}, numbers.data())
        .text("/g/i", "modulation", "qpsk")
        .iq("/g/a,b", phy_test::random_components(3, random_));
    const phy::CaptureReader reader(path_, {.dataset = "/g/i,/g/q"});
    EXPECT_TRUE(reader.description().has_noise_per_symbol);
    EXPECT_EQ(reader.description().modulation, phy::Modulation::qpsk);
    EXPECT_EQ(phy::CaptureReader(path_, {.dataset = "/g/a,b", .ignores_noise_variance = true})
                  .description()
                  .symbols,
              3U)
        << "a name with a comma";
}

TEST_F(CaptureReaderTest, ReadsNoiseOfEveryFloatType) {
    for (const auto kind : {NumberKind::float16, NumberKind::float32, NumberKind::float64}) {
        for (const auto order : {std::endian::little, std::endian::big}) {
            const Components components = phy_test::random_components(50, random_);
            const phy::hdf5::TypeHandle type = phy::hdf5::hdf5_type({kind, order});
            CaptureFile(path_)
                .group("/g")
                .iq("/g/iq", components)
                .dataset("/g/noise_variance", type, {5, 10}, nullptr);
            std::vector<double> noise(50);
            std::iota(noise.begin(), noise.end(), 0.0);
            {
                const phy::hdf5::FileHandle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
                const phy::hdf5::DatasetHandle dataset(H5Dopen2(file, "/g/noise_variance", H5P_DEFAULT));
                H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, noise.data());
            }
            phy::CaptureReader reader(path_);
            ASSERT_TRUE(reader.description().has_noise_per_symbol);
            std::vector<float> some(20);
            reader.read_noise(13, some);
            EXPECT_EQ(some, std::vector<float>(noise.begin() + 13, noise.begin() + 33));
        }
    }
}

TEST_F(CaptureReaderTest, ReadsBitsOfAnyShape) {
    const Components components = phy_test::random_components(12, random_);
    std::vector<std::uint8_t> bits(48);
    for (auto& bit : bits)
        bit = static_cast<std::uint8_t>(random_() % 2);
    for (const Dimensions& shape : {Dimensions{12, 4}, Dimensions{48}, Dimensions{3, 4, 4}}) {
        CaptureFile(path_).iq("/iq", components).dataset("/bits", H5T_STD_U8LE, shape, bits.data());
        phy::CaptureReader reader(path_);
        ASSERT_TRUE(reader.description().has_bits);
        ASSERT_EQ(reader.description().bits_per_symbol, 4U);
        std::vector<std::uint8_t> some(20);
        reader.read_bits(5, some);
        EXPECT_EQ(some, std::vector<std::uint8_t>(bits.begin() + 20, bits.begin() + 40));
    }
}

TEST_F(CaptureReaderTest, RefusesReadsThatDoNotFitTheCapture) {
    CaptureFile(path_).iq("/iq", phy_test::random_components(10, random_));
    phy::CaptureReader reader(path_);
    std::vector<phy::cf32> symbols(4);
    std::vector<phy::cf16> halves(4);
    std::vector<float> noise(4);
    std::vector<std::uint8_t> bits(4);
    EXPECT_THROW(reader.read(7, symbols), phy::ArgumentError);
    EXPECT_THROW(reader.read(std::numeric_limits<std::uint64_t>::max(), symbols), phy::ArgumentError);
    EXPECT_THROW(reader.read(0, halves), phy::ArgumentError);
    EXPECT_THROW(reader.read_noise(0, noise), phy::ArgumentError);
    EXPECT_THROW(reader.read_bits(0, bits), phy::ArgumentError);
    EXPECT_THROW(phy::CaptureReader(path_, {.full_scale = 0.0}), phy::ArgumentError);
}

TEST_F(CaptureReaderTest, DifferentReadersWorkInDifferentThreads) {
    hbool_t thread_safe = false;
    H5is_library_threadsafe(&thread_safe);
    if (!thread_safe) GTEST_SKIP() << "this HDF5 library is not built thread-safe";
    const Components components = phy_test::random_components(20'000, random_);
    CaptureFile(path_).iq("/iq", phy_test::packed_layout(Kind::compound, {NumberKind::float64}), {20'000},
                          components, {{1000}, true});
    std::vector<std::vector<double>> read(4);
    {
        std::vector<std::jthread> threads;
        threads.reserve(read.size());
        for (auto& samples : read) {
            threads.emplace_back([&] {
                phy::CaptureReader reader(path_);
                samples = read_components(reader, 0, 20'000);
            });
        }
    }
    for (const auto& samples : read)
        EXPECT_EQ(samples, phy_test::slice(components, 0, 20'000));
}

TEST_F(CaptureReaderTest, CanBeMoved) {
    const Components components = phy_test::random_components(10, random_);
    CaptureFile(path_).iq("/iq", components);
    phy::CaptureReader first(path_);
    phy::CaptureReader second(std::move(first));
    EXPECT_EQ(read_components(second, 2, 5), phy_test::slice(components, 2, 5));
    first = std::move(second);
    EXPECT_EQ(read_components(first, 0, 10), phy_test::slice(components, 0, 10));
}

}  // namespace
