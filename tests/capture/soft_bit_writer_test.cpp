#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <list>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "capture/file_size_limit.hpp"
#include "phy/capture/capture.hpp"
#include "phy/capture/hdf5/handle.hpp"
#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

namespace {

using Config = phy::SoftBitWriter::Config;

class SoftBitWriterTest : public testing::Test {
protected:
    void put_text(const std::string& text) const { std::ofstream(path_) << text; }

    std::string text() const {
        std::ostringstream all;
        all << std::ifstream(path_).rdbuf();
        return all.str();
    }

    /// The message of the error that opening a writer gives; it must name the file.
    std::string rejection(const std::filesystem::path& path, const Config& config) const {
        try {
            const phy::SoftBitWriter writer(path, config);
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "the writer was opened";
        return "";
    }

    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "softbits.h5";
    const Config config_ = {.symbols = 100, .modulation = phy::Modulation::qam16};
    const std::vector<std::int8_t> llr_ = std::vector<std::int8_t>(400, 42);
};

using Names = std::vector<std::string>;

TEST_F(SoftBitWriterTest, FileAppearsWhenItIsComplete) {
    std::vector<std::int8_t> llr(400);
    for (std::size_t i = 0; i < llr.size(); ++i)
        llr[i] = static_cast<std::int8_t>(i);
    phy::SoftBitWriter writer(path_, config_);
    writer.append(std::as_bytes(std::span(llr)).first(4 * 33));
    writer.append({});
    writer.append(std::as_bytes(std::span(llr)).subspan(4 * 33));
    EXPECT_FALSE(std::filesystem::exists(path_));
    ASSERT_EQ(directory_.names().size(), 1U);
    EXPECT_TRUE(directory_.names().front().starts_with(".")) << "the unfinished file is hidden";
    writer.commit();
    EXPECT_EQ(directory_.names(), Names{"softbits.h5"});

    const phy::hdf5::FileHandle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const phy::hdf5::DatasetHandle dataset(H5Dopen2(file, "/llr", H5P_DEFAULT));
    std::vector<std::int8_t> read(400);
    ASSERT_GE(H5Dread(dataset, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
    EXPECT_EQ(read, llr);
}

TEST_F(SoftBitWriterTest, SameContentMakesTheSameFile) {
    const auto write = [this] {
        Config config = config_;
        config.overwrite = true;
        phy::SoftBitWriter writer(path_, config);
        writer.append(std::as_bytes(std::span(llr_)));
        writer.commit();
        return text();
    };
    const std::string first = write();
    // HDF5 counts the time in seconds.
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    EXPECT_TRUE(write() == first);
}

TEST_F(SoftBitWriterTest, NothingIsLeftWithoutCommit) {
    for (const char* const name : {"softbits.h5", "softbits.npy", "softbits.raw"}) {
        phy::SoftBitWriter writer(directory_ / name, config_);
        writer.append(std::as_bytes(std::span(llr_)));
    }
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(SoftBitWriterTest, TheReaderOfCapturesReadsAnArray) {
    constexpr std::size_t symbols = 1000;
    std::vector<phy::cf32> pairs;
    for (std::size_t n = 0; n < symbols; ++n)
        pairs.emplace_back(static_cast<float>(n), -0.5F * static_cast<float>(n));
    Config config = {.symbols = symbols,
                     .format = phy::SoftBitFormat::float32,
                     .source_shape = std::vector<std::uint64_t>(29, 1),
                     .keep_shape = true};
    config.source_shape->at(11) = symbols;
    phy::SoftBitWriter writer(directory_ / "pairs.npy", config);
    writer.append(std::as_bytes(std::span(pairs)).first(8 * 99));
    writer.append(std::as_bytes(std::span(pairs)).subspan(8 * 99));
    writer.commit();
    phy::CaptureReader reader(directory_ / "pairs.npy");
    EXPECT_EQ(reader.description().shape, *config.source_shape);
    std::vector<phy::cf32> read(symbols);
    reader.read(0, read);
    EXPECT_EQ(read, pairs);
}

TEST_F(SoftBitWriterTest, RawFilesHoldTheNumbersAlone) {
    phy::SoftBitWriter writer(directory_ / "softbits.raw", config_);
    writer.append(std::as_bytes(std::span(llr_)));
    EXPECT_THROW(writer.append(std::as_bytes(std::span(llr_)).first(4)), phy::ArgumentError) << "too many";
    writer.commit();
    EXPECT_EQ(std::filesystem::file_size(directory_ / "softbits.raw"), llr_.size());
    EXPECT_THROW(writer.append({}), phy::ArgumentError) << "after commit";
}

TEST_F(SoftBitWriterTest, CanBeMoved) {
    phy::SoftBitWriter first(path_, config_);
    phy::SoftBitWriter second(std::move(first));
    second.append(std::as_bytes(std::span(llr_)));
    second.commit();
    EXPECT_EQ(directory_.names(), Names{"softbits.h5"});
}

TEST_F(SoftBitWriterTest, RefusesWhatDoesNotFit) {
    EXPECT_THROW(phy::SoftBitWriter(path_, {.symbols = 0}), phy::ArgumentError);
    phy::SoftBitWriter writer(path_, config_);
    const auto bytes = std::as_bytes(std::span(llr_));
    EXPECT_THROW(writer.append(bytes.first(3)), phy::ArgumentError) << "part of a symbol";
    EXPECT_THROW(writer.commit(), phy::ArgumentError) << "before the last symbol";
    writer.append(bytes);
    EXPECT_THROW(writer.append(bytes.first(4)), phy::ArgumentError) << "beyond the last symbol";
    writer.commit();
    EXPECT_THROW(writer.append(bytes.first(4)), phy::ArgumentError) << "after commit";
    EXPECT_THROW(writer.commit(), phy::ArgumentError) << "twice";
}

/// The dimensions of a dataset or attribute.
std::vector<hsize_t> dimensions_of(hid_t space) {
    const phy::hdf5::SpaceHandle handle(space);
    std::vector<hsize_t> dimensions(static_cast<std::size_t>(H5Sget_simple_extent_ndims(handle)));
    H5Sget_simple_extent_dims(handle, dimensions.data(), nullptr);
    return dimensions;
}

TEST_F(SoftBitWriterTest, SaysTheSourcesShapeAndKeepsItWhereAsked) {
    using Shape = std::vector<std::uint64_t>;
    const auto expect = [&](const Shape& shape, bool keep, const std::vector<hsize_t>& dimensions) {
        Config config = config_;
        config.overwrite = true;
        config.source_shape = shape;
        config.keep_shape = keep;
        config.noise_dataset = "c.h5:/noise_variance";
        phy::SoftBitWriter writer(path_, config);
        for (std::size_t first = 0; first < llr_.size(); first += 4 * 20)
            writer.append(std::as_bytes(std::span(llr_)).subspan(first, 4 * 20));
        writer.commit();
        const phy::hdf5::FileHandle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
        const phy::hdf5::DatasetHandle dataset(H5Dopen2(file, "/llr", H5P_DEFAULT));
        EXPECT_EQ(dimensions_of(H5Dget_space(dataset)), dimensions);
        std::vector<std::int8_t> read(400);
        ASSERT_GE(H5Dread(dataset, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
        EXPECT_EQ(read, llr_);
        const phy::hdf5::AttributeHandle attribute(H5Aopen(dataset, "source_shape", H5P_DEFAULT));
        ASSERT_EQ(dimensions_of(H5Aget_space(attribute)), std::vector<hsize_t>{shape.size()});
        Shape written(shape.size() + 1);
        ASSERT_GE(H5Aread(attribute, H5T_NATIVE_UINT64, written.data()), 0);
        written.pop_back();
        EXPECT_EQ(written, shape);
        EXPECT_GT(H5Aexists(dataset, "noise_variance_dataset"), 0);
    };
    expect({100}, false, {100, 4});
    expect({5, 2, 10}, false, {100, 4});
    expect({5, 2, 10}, true, {5, 2, 10, 4});
    Shape deep(29, 1);
    deep[3] = 100;
    expect(deep, false, {100, 4});
    std::vector<hsize_t> kept(deep.begin(), deep.end());
    kept.push_back(4);
    expect(deep, true, kept);
}

TEST_F(SoftBitWriterTest, RefusesAShapeOfOtherSymbols) {
    const auto refusal = [&](std::optional<std::vector<std::uint64_t>> shape, bool keep) {
        Config config = config_;
        config.source_shape = std::move(shape);
        config.keep_shape = keep;
        EXPECT_THROW(phy::SoftBitWriter(path_, config), phy::ArgumentError);
        EXPECT_EQ(directory_.names(), Names());
    };
    refusal(std::nullopt, true);
    refusal(std::vector<std::uint64_t>{99}, false);
    refusal(std::vector<std::uint64_t>{10, 11}, true);
    std::vector<std::uint64_t> deep(32, 1);
    deep[0] = 100;
    refusal(deep, true);
}

TEST_F(SoftBitWriterTest, WritesSignsWhereOnlyDecisionsAreWanted) {
    const std::vector<float> values = {3.0F, -0.25F, 0.0F, -60000.0F, 1e-7F, -1e-7F, 127.0F, -1.0F};
    const std::vector<std::uint8_t> signs = {0, 1, 0, 1, 0, 1, 0, 1};
    const auto expect = [&](auto element, const std::vector<std::uint8_t>& expected) {
        using SoftBit = decltype(element);
        // More than one piece of what is converted at once.
        constexpr std::size_t symbols = 500'000;
        constexpr float least = std::is_integral_v<SoftBit> ? -127.0F : -6e4F;
        std::vector<SoftBit> llr;
        for (std::size_t n = 0; n < 4 * symbols; ++n)
            llr.push_back(static_cast<SoftBit>(std::max(values[n % 8], least)));
        Config config = config_;
        config.overwrite = true;
        config.symbols = symbols;
        config.format = phy::soft_bit_format_of<SoftBit>;
        config.hard = true;
        phy::SoftBitWriter writer(path_, config);
        const auto bytes = std::as_bytes(std::span(llr));
        EXPECT_THROW(writer.append(bytes.first(3)), phy::ArgumentError) << "part of a symbol";
        writer.append(bytes.first(40 * sizeof(SoftBit)));
        writer.append(bytes.subspan(40 * sizeof(SoftBit)));
        EXPECT_THROW(writer.append(bytes.first(4 * sizeof(SoftBit))), phy::ArgumentError) << "too many";
        writer.commit();
        const phy::hdf5::FileHandle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
        const phy::hdf5::DatasetHandle dataset(H5Dopen2(file, "/bits", H5P_DEFAULT));
        EXPECT_EQ(dimensions_of(H5Dget_space(dataset)), (std::vector<hsize_t>{symbols, 4}));
        EXPECT_EQ(H5Aexists(dataset, "llr_scale"), 0);
        EXPECT_GT(H5Aexists(dataset, "modulation"), 0);
        std::vector<std::uint8_t> read(4 * symbols);
        ASSERT_GE(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
        for (std::size_t n = 0; n < read.size(); ++n)
            ASSERT_EQ(read[n], expected[n % 8]) << n;
    };
    expect(float(), signs);
    expect(phy::half(), signs);
    std::vector<std::uint8_t> of_integers = signs;
    of_integers[1] = of_integers[5] = 0;  // rounded to 0
    of_integers[3] = 1;
    expect(std::int8_t(), of_integers);
}

TEST_F(SoftBitWriterTest, OverwritesOnlyWhenTold) {
    put_text("precious");
    EXPECT_NE(rejection(path_, config_).find("exists"), std::string::npos);
    EXPECT_EQ(text(), "precious");

    Config config = config_;
    config.overwrite = true;
    { const phy::SoftBitWriter abandoned(path_, config); }
    EXPECT_EQ(text(), "precious");

    phy::SoftBitWriter writer(path_, config);
    writer.append(std::as_bytes(std::span(llr_)));
    EXPECT_EQ(text(), "precious");
    writer.commit();
    EXPECT_NE(text(), "precious");
    EXPECT_EQ(directory_.names(), Names{"softbits.h5"});
}

TEST_F(SoftBitWriterTest, DoesNotReplaceAFileThatAppearedMeanwhile) {
    {
        phy::SoftBitWriter writer(path_, config_);
        writer.append(std::as_bytes(std::span(llr_)));
        put_text("precious");
        EXPECT_THROW(writer.commit(), phy::FileError);
    }
    EXPECT_EQ(text(), "precious");
    EXPECT_EQ(directory_.names(), Names{"softbits.h5"});
}

TEST_F(SoftBitWriterTest, OverwritesAFileThroughItsLink) {
    put_text("old");
    std::filesystem::create_symlink(path_, directory_ / "link.h5");
    Config config = config_;
    config.overwrite = true;
    phy::SoftBitWriter writer(directory_ / "link.h5", config);
    writer.append(std::as_bytes(std::span(llr_)));
    writer.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "link.h5"));
    EXPECT_NE(text(), "old");
}

TEST_F(SoftBitWriterTest, RefusesWhatIsNoFile) {
    Config config = config_;
    config.overwrite = true;
    EXPECT_NE(rejection(directory_.path(), config).find("directory"), std::string::npos);
    EXPECT_NE(rejection("/dev/null", config).find("not a regular file"), std::string::npos);
    EXPECT_NE(rejection(directory_ / "none/softbits.h5", config).find("no such directory"),
              std::string::npos);
}

TEST_F(SoftBitWriterTest, RefusesWhatTheDiskHasNoRoomFor) {
    for (const std::uint64_t symbols : {std::uint64_t{1} << 52, ~std::uint64_t{0}}) {
        Config config = config_;
        config.symbols = symbols;
        EXPECT_NE(rejection(path_, config).find("free"), std::string::npos);
    }
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(SoftBitWriterTest, FilesTooLargeAreRefusedAtOnce) {
    Config config = config_;
    config.symbols = 1'000'000;
    const phy_test::FileSizeLimit limit(100'000);
    EXPECT_NE(rejection(path_, config).find("cannot be written"), std::string::npos);
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(SoftBitWriterTest, WritesThatFailAreErrors) {
    Config config = config_;
    config.symbols = 1'000'000;
    const std::vector<std::byte> llr(4 * config.symbols);
    {
        phy::SoftBitWriter writer(path_, config);
        const phy_test::FileSizeLimit limit(100'000);
        try {
            writer.append(llr);
            FAIL() << "more was written than the limit permits";
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string(error.what()).find(path_.string() + ": cannot be written"),
                      std::string::npos)
                << error.what();
        }
    }
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(SoftBitWriterTest, UnfinishedOutputsCanBeRemovedFromASignalHandler) {
    phy::SoftBitWriter unfinished(path_, config_);
    phy::SoftBitWriter finished(directory_ / "finished.h5", config_);
    finished.append(std::as_bytes(std::span(llr_)));
    finished.commit();
    phy::remove_unfinished_outputs();
    EXPECT_EQ(directory_.names(), Names{"finished.h5"});
    unfinished.append(std::as_bytes(std::span(llr_)));
    EXPECT_THROW(unfinished.commit(), phy::FileError);
}

TEST_F(SoftBitWriterTest, HasALimitOfOpenOutputsThatEndsWithThem) {
    {
        std::list<phy::SoftBitWriter> writers;
        const auto open_many = [&] {
            for (int i = 0; i < 100; ++i)
                writers.emplace_back(directory_ / std::to_string(i), config_);
        };
        EXPECT_THROW(open_many(), phy::FileError);
        EXPECT_GE(writers.size(), 32U);
    }
    EXPECT_EQ(directory_.names(), Names());
    EXPECT_NO_THROW(phy::SoftBitWriter(path_, config_));
}

TEST_F(SoftBitWriterTest, NamesAsLongAsTheFileSystemTakes) {
    const std::string name(255, 'n');
    phy::SoftBitWriter writer(directory_ / name, config_);
    writer.append(std::as_bytes(std::span(llr_)));
    writer.commit();
    EXPECT_EQ(directory_.names(), Names{name});
}

/// A decision is L < 0: numbers below 0 alone are 1, and neither 0 nor -0 is.
template <typename T>
std::vector<std::uint8_t> decisions(const std::filesystem::path& path, phy::SoftBitFormat format,
                                    const std::vector<T>& llr) {
    phy::SoftBitWriter writer(path, {.symbols = llr.size() / 2,
                                     .format = format,
                                     .modulation = phy::Modulation::qpsk,
                                     .hard = true,
                                     .overwrite = true});
    writer.append(std::as_bytes(std::span(llr)));
    writer.commit();
    const phy::hdf5::FileHandle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const phy::hdf5::DatasetHandle dataset(H5Dopen2(file, "/bits", H5P_DEFAULT));
    std::vector<std::uint8_t> bits(llr.size(), 7);
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bits.data()), 0);
    return bits;
}

TEST_F(SoftBitWriterTest, DecisionsAreBelowZero) {
    const std::vector<float> llr = {0.0F, -0.0F, 3.0F, -3.0F, 1e-7F, -1e-7F, 6e4F, -6e4F};
    const std::vector<std::uint8_t> expected = {0, 0, 0, 1, 0, 1, 0, 1};
    EXPECT_EQ(decisions(path_, phy::SoftBitFormat::float32, llr), expected);
    std::vector<phy::half> halves;
    for (const float soft_bit : llr)
        halves.emplace_back(soft_bit);
    EXPECT_EQ(decisions(path_, phy::SoftBitFormat::float16, halves), expected);
    // Too small for float16.
    EXPECT_EQ(decisions(path_, phy::SoftBitFormat::float16, std::vector{phy::half(-1e-9F), phy::half(1e-9F)}),
              (std::vector<std::uint8_t>{0, 0}));
    EXPECT_EQ(decisions(path_, phy::SoftBitFormat::int8, std::vector<std::int8_t>{0, -1, 1, -128, 127, -127}),
              (std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1}));
}

}  // namespace
