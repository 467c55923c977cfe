#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "capture/capture_files.hpp"
#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy_test::CaptureFile;

class CaptureRejection : public testing::Test {
protected:
    /// What the reader says of the file, which must be one line that names it.
    std::string rejection(const phy::CaptureOptions& options = {}) const {
        try {
            const phy::CaptureReader reader(path_, options);
        } catch (const phy::FileError& error) {
            return checked_line(error);
        }
        ADD_FAILURE() << "the capture was accepted";
        return "";
    }

    std::string checked_line(const phy::FileError& error) const {
        std::string line = error.what();
        EXPECT_NE(line.find(path_.string()), std::string::npos) << line;
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
        return line;
    }

    CaptureFile with_iq() const { return std::move(CaptureFile(path_).iq("/iq", components_)); }

    std::vector<char> bytes() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
    void write(const std::vector<char>& all) const { write(std::string(all.begin(), all.end())); }

    void read_damaged(std::size_t step) const;

    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "capture.h5";
    std::mt19937 random_{38};
    const phy_test::Components components_ = phy_test::random_components(100, random_);
};

void expect_says(const std::string& line, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(line.find(part), std::string::npos) << "'" << part << "' is not in: " << line;
}

TEST_F(CaptureRejection, NoSuchFile) {
    expect_says(rejection(), {"no such file"});
}

TEST_F(CaptureRejection, Directory) {
    std::filesystem::create_directory(path_);
    expect_says(rejection(), {"is a directory"});
}

TEST_F(CaptureRejection, NotARegularFile) {
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    expect_says(rejection(), {"not a regular file"});
}

TEST_F(CaptureRejection, NotHdf5) {
    write("this is text\n");
    expect_says(rejection(), {"is not an HDF5 file"});
    write("");
    expect_says(rejection(), {"is not an HDF5 file"});
}

TEST_F(CaptureRejection, GitLfsPointer) {
    write("version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12345\n");
    expect_says(rejection(), {"git-LFS pointer"});
}

TEST_F(CaptureRejection, TruncatedFile) {
    with_iq();
    const auto whole = std::filesystem::file_size(path_);
    for (const auto size : {whole - 1, whole / 2, std::uintmax_t{100}, std::uintmax_t{9}}) {
        std::filesystem::resize_file(path_, size);
        expect_says(rejection(), {"truncated or damaged"});
    }
}

TEST_F(CaptureRejection, SamplesBeyondTheEndOfTheFile) {
    with_iq();
    // The superblock of version 0 holds the end of the file at byte 40, without a checksum.
    std::vector<char> damaged = bytes();
    ASSERT_EQ(damaged.at(8), 0);
    damaged.resize(damaged.size() - 8);
    const std::uint64_t end = damaged.size();
    std::memcpy(damaged.data() + 40, &end, sizeof(end));
    write(damaged);
    expect_says(rejection(), {"dataset /iq", "truncated file"});
}

/// Opens and reads the file with one of its first bytes damaged, each of those that are `step` bytes apart.
void CaptureRejection::read_damaged(std::size_t step) const {
    const std::vector<char> good = bytes();
    for (std::size_t i = 0; i < std::min<std::size_t>(good.size(), 1200); i += step) {
        std::vector<char> damaged = good;
        damaged[i] = static_cast<char>(~damaged[i]);
        write(damaged);
        try {
            phy::CaptureReader reader(path_);
            phy_test::read_components(reader, 0, std::min<std::uint64_t>(reader.description().symbols, 100));
            const auto codewords = reader.description().codewords;
            if (!codewords || codewords->bits > 1000) continue;
            std::vector<std::uint8_t> codeword(codewords->bits);
            reader.read_codeword(0, codeword);
        } catch (const phy::FileError& error) {
            checked_line(error);
        }
    }
}

TEST_F(CaptureRejection, DamagedBytesNeverEndTheProgram) {
    with_iq().text("/iq", "modulation", "qpsk");
    read_damaged(1);
}

// Text of fixed length: HDF5 1.10 itself follows damaged references to text of variable length anywhere.
TEST_F(CaptureRejection, DamagedSamplesNeverEndTheProgram) {
    const std::vector<std::uint8_t> codewords(200, 1);
    CaptureFile(path_)
        .iq("/samples", components_)
        .fixed_text("/samples", "link", R"({"direction": "uplink"})", 40, H5T_STR_SPACEPAD)
        .dataset("/codeword", H5T_NATIVE_UINT8, {4, 50}, codewords.data(), {{1, 50}, true});
    read_damaged(3);
}

TEST_F(CaptureRejection, DamagedChunk) {
    const auto layout = phy_test::packed_layout(phy::hdf5::IqLayout::Kind::compound, {});
    CaptureFile(path_).iq("/iq", layout, {100}, components_, {{100}, true});
    std::vector<char> damaged = bytes();
    const std::array<char, 2> zlib_header = {0x78, 0x5E};
    const auto chunk = std::search(damaged.begin(), damaged.end(), zlib_header.begin(), zlib_header.end());
    ASSERT_NE(chunk, damaged.end());
    std::fill_n(chunk + 2, 40, '\xFF');
    write(damaged);

    phy::CaptureReader reader(path_);
    std::vector<phy::cf32> symbols(100);
    try {
        reader.read(0, symbols);
        FAIL() << "the damaged chunk was read";
    } catch (const phy::FileError& error) {
        expect_says(checked_line(error), {"dataset /iq", "cannot be read", "inflate"});
    }
}

TEST_F(CaptureRejection, FileThatShrinksWhileItIsRead) {
    with_iq();
    phy::CaptureReader reader(path_);
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 16);
    std::vector<phy::cf32> symbols(100);
    try {
        reader.read(0, symbols);
        FAIL() << "the missing samples were read";
    } catch (const phy::FileError& error) {
        expect_says(checked_line(error), {"truncated"});
    }
}

TEST_F(CaptureRejection, NoSuchDataset) {
    CaptureFile(path_).group("/rx").iq("/rx/one", components_);
    expect_says(rejection({.dataset = "/rx/two"}), {"no such dataset: /rx/two", "/rx/one (compound"});
    expect_says(rejection({.dataset = "/tx/one"}), {"no such dataset: /tx/one", "/rx/one"});
    expect_says(rejection({.dataset = "/rx"}), {"/rx", "cannot be opened as a dataset"});
}

TEST_F(CaptureRejection, IAndQThatDoNotFit) {
    const std::vector<double> numbers(20);
    const auto with_q = [&](hid_t type, const phy::hdf5::Dimensions& dimensions) {
        CaptureFile(path_)
            .dataset("/i", H5T_NATIVE_FLOAT, {10}, numbers.data())
            .dataset("/q", type, dimensions, numbers.data());
        return rejection({.dataset = "/i,/q"});
    };
    expect_says(with_q(H5T_NATIVE_FLOAT, {11}),
                {"/i", "float32 [10]", "float32 [11]", "one type and one shape"});
    expect_says(with_q(H5T_NATIVE_DOUBLE, {10}), {"float32 [10]", "float64 [10]"});
    expect_says(with_q(H5T_STD_U8LE, {10}), {"uint8 [10]"});
    with_q(H5T_NATIVE_FLOAT, {11});
    expect_says(rejection({.dataset = "/i,/x"}), {"no such dataset: /x"});
    expect_says(rejection({.dataset = "/i,"}), {"/", "cannot be opened as a dataset"});
    expect_says(rejection({.dataset = "/i,/i,/i"}), {"no such dataset: /i,/i"});
    expect_says(rejection({.dataset = "/i,/i", .interleaved = true}), {"is not IQ"});
    CaptureFile(path_).iq("/iq", components_);
    expect_says(rejection({.dataset = "/iq,/iq"}), {"compound", "expected numbers"});
}

TEST_F(CaptureRejection, SeveralCandidatesOrNone) {
    CaptureFile(path_).iq("/one", components_).iq("/two", components_);
    expect_says(rejection(), {"several datasets", "/one (compound of float32 and float32 [100])", "/two"});

    const std::vector<float> reals(12);
    CaptureFile(path_).dataset("/power", H5T_NATIVE_FLOAT, {12}, reals.data());
    expect_says(rejection(), {"no dataset looks like IQ", "compound of two", "/power (float32 [12])"});
    { const CaptureFile without_datasets(path_); }
    expect_says(rejection(), {"no dataset looks like IQ", "datasets in the file: none"});
}

TEST_F(CaptureRejection, NotIq) {
    const std::vector<double> zeros(64);
    const auto rejected = [&](hid_t type, const phy::hdf5::Dimensions& dimensions, bool interleaved = false) {
        CaptureFile(path_).dataset("/iq", type, dimensions, zeros.data()).iq("/good", components_);
        return rejection({.interleaved = interleaved});
    };
    const phy::hdf5::TypeHandle text(H5Tcopy(H5T_C_S1));
    expect_says(rejected(text, {4}), {"dataset /iq", "is not IQ but text [4]", "expected", "/good"});
    expect_says(rejected(H5T_NATIVE_FLOAT, {2}),
                {"is not IQ but float32 [2]", "(flat I, Q, I, Q? give the option --interleaved)"});
    expect_says(rejected(H5T_NATIVE_FLOAT, {4, 3}), {"is not IQ but float32 [4, 3]"});
    expect_says(rejected(H5T_STD_U8LE, {4, 2}), {"is not IQ but uint8 [4, 2]"});
    expect_says(rejected(H5T_STD_I64BE, {4, 2}), {"is not IQ but int64 [4, 2]"});
    expect_says(rejected(H5T_NATIVE_FLOAT, {3}, true), {"is not IQ but float32 [3]", "an even count"});

    const phy::hdf5::TypeHandle three(H5Tcreate(H5T_COMPOUND, 12));
    for (const char* const name : {"a", "b", "c"})
        H5Tinsert(three, name, static_cast<std::size_t>(*name - 'a') * 4, H5T_NATIVE_FLOAT);
    expect_says(rejected(three, {4}), {"is not IQ but compound of 3 members"});

    const phy::hdf5::TypeHandle mixed(H5Tcreate(H5T_COMPOUND, 8));
    H5Tinsert(mixed, "r", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(mixed, "i", 4, H5T_NATIVE_INT32);
    expect_says(rejected(mixed, {4}), {"is not IQ but compound of float32 and int32 [4]"});
}

TEST_F(CaptureRejection, CompoundIsNotInterleaved) {
    with_iq();
    const std::string hint = "(leave out the option --interleaved)";
    expect_says(rejection({.interleaved = true}), {"is not IQ but compound", hint});
    CaptureFile(path_).iq("/other", components_);
    expect_says(rejection({.interleaved = true}), {"no dataset looks like IQ", hint});
}

TEST_F(CaptureRejection, ExternalLink) {
    CaptureFile(directory_ / "other.h5").iq("/iq", components_);
    H5Lcreate_external((directory_ / "other.h5").c_str(), "/iq", CaptureFile(path_).id(), "iq", H5P_DEFAULT,
                       H5P_DEFAULT);
    expect_says(rejection(), {"dataset /iq", "external link"});
}

TEST_F(CaptureRejection, BrainFloatIsNoFloat16) {
    const phy::hdf5::TypeHandle bfloat16(H5Tcopy(H5T_IEEE_F32LE));
    H5Tset_fields(bfloat16, 15, 7, 8, 0, 7);
    H5Tset_size(bfloat16, 2);
    H5Tset_ebias(bfloat16, 127);
    CaptureFile(path_).dataset("/iq", bfloat16, {4, 2}, nullptr);
    expect_says(rejection(), {"is not IQ", "2-byte float"});
}

TEST_F(CaptureRejection, NoSamples) {
    CaptureFile(path_).dataset("/iq", H5T_NATIVE_FLOAT, {0, 2}, nullptr);
    expect_says(rejection(), {"dataset /iq", "no samples"});
}

TEST_F(CaptureRejection, UnusableAttributes) {
    with_iq().text("/iq", "modulation", "8psk");
    expect_says(rejection(), {"unknown modulation '8psk'", "256qam"});
    with_iq().number("/iq", "modulation", 16);
    expect_says(rejection(), {"attribute modulation", "expected one string"});
    with_iq().text("/iq", "noise_variance", "0.1");
    expect_says(rejection(), {"attribute noise_variance", "expected one number"});
    with_iq().number("/", "full_scale", 0.0);
    expect_says(rejection(), {"attribute full_scale", "positive"});
    for (const double value : {-1.0, std::nan(""), 1e-60, 1e60}) {
        with_iq().number("/iq", "full_scale", value);
        expect_says(rejection(), {"attribute full_scale", "positive"});
    }
}

TEST_F(CaptureRejection, UnusableFullScaleOption) {
    with_iq();
    for (const double value : {0.0, -1.0, std::nan(""), 1e-60, 1e60}) {
        try {
            const phy::CaptureReader reader(path_, {.full_scale = value});
            FAIL() << value << " was accepted";
        } catch (const phy::ArgumentError& error) {
            expect_says(error.what(), {"option full_scale", "positive"});
        }
    }
}

TEST_F(CaptureRejection, NoiseThatDoesNotFitTheSymbols) {
    const std::vector<double> noise(101);
    with_iq().dataset("/noise_variance", H5T_NATIVE_FLOAT, {99}, noise.data());
    expect_says(rejection(), {"/noise_variance", "float32 [99]", "each of 100 symbols"});
    with_iq().dataset("/noise_variance", H5T_NATIVE_INT16, {100}, noise.data());
    expect_says(rejection(), {"/noise_variance", "int16 [100]", "expected float16, float32 or float64"});
}

TEST_F(CaptureRejection, BitsThatDoNotFitTheSymbols) {
    const std::vector<std::uint16_t> bits(1000, 0x0101);
    with_iq().dataset("/bits", H5T_NATIVE_UINT8, {99, 4}, bits.data());
    expect_says(rejection(), {"/bits", "uint8 [99, 4]", "each of 100 symbols"});
    with_iq().dataset("/bits", H5T_NATIVE_UINT8, {4, 100}, bits.data());
    expect_says(rejection(), {"/bits", "uint8 [4, 100]"});
    with_iq().dataset("/bits", H5T_NATIVE_UINT8, {50}, bits.data());
    expect_says(rejection(), {"/bits", "uint8 [50]"});
    with_iq().dataset("/bits", H5T_NATIVE_UINT16, {100, 4}, bits.data());
    expect_says(rejection(), {"/bits", "uint16 [100, 4]", "expected uint8"});
}

TEST_F(CaptureRejection, BitsOtherThanZeroAndOne) {
    std::vector<std::uint8_t> bits(400, 1);
    bits[210] = 2;
    with_iq().dataset("/bits", H5T_NATIVE_UINT8, {100, 4}, bits.data());
    phy::CaptureReader reader(path_);
    std::vector<std::uint8_t> some(200);
    EXPECT_NO_THROW(reader.read_bits(0, some));
    try {
        reader.read_bits(50, some);
        FAIL() << "a bit of 2 was read";
    } catch (const phy::FileError& error) {
        expect_says(checked_line(error), {"/bits", "0 and 1"});
    }
}

TEST_F(CaptureRejection, PrintsNothingOfTheHdf5Library) {
    write("this is text\n");
    testing::internal::CaptureStderr();
    rejection();
    with_iq();
    rejection({.dataset = "/none"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// Datasets deep in the file are found by name; searching for them would take as long as the depth cubed.
TEST_F(CaptureRejection, GroupsInThousandsOfGroups) {
    constexpr int depth = 3000;
    std::string path;
    {
        const CaptureFile file(path_);
        phy::hdf5::Handle<H5Gclose> group(H5Gopen2(file.id(), "/", H5P_DEFAULT));
        for (int level = 0; level < depth; ++level) {
            path += "/g";
            phy::hdf5::Handle<H5Gclose> inner(H5Gcreate2(group, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            ASSERT_GE(inner, 0);
            group = std::move(inner);
        }
        const phy::hdf5::Dimensions dimensions = {100, 2};
        const phy::hdf5::SpaceHandle space(H5Screate_simple(2, dimensions.data(), nullptr));
        const phy::hdf5::DatasetHandle dataset(
            H5Dcreate2(group, "iq", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const std::vector<float> values(200, 0.5F);
        ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
    expect_says(rejection(), {"nested deeper than 100 levels", "name of a dataset"});
    EXPECT_EQ(phy::CaptureReader(path_, {.dataset = path + "/iq"}).description().symbols, 100U);
    expect_says(rejection({.dataset = path + "/none"}), {"nested deeper than 100 levels"});
}

}  // namespace
