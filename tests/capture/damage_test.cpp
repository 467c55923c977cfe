#include <gtest/gtest.h>

#include <algorithm>
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
#include "support/environment_variable.hpp"
#include "support/temporary_directory.hpp"

/// HDF5 files that say more than they hold. The HDF5 library reads zeros from most of them, or what lies
/// behind its buffers.
namespace {

using phy::hdf5::DatasetHandle;
using phy::hdf5::Dimensions;
using phy::hdf5::PropertiesHandle;
using phy::hdf5::SpaceHandle;
using phy_test::CaptureFile;

using Bytes = std::vector<char>;

template <typename Value>
void append(Bytes& bytes, Value value) {
    std::array<char, sizeof(value)> raw;
    std::memcpy(raw.data(), &value, sizeof(value));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

template <typename... Values>
Bytes bytes_of(Values... values) {
    Bytes bytes;
    (append(bytes, values), ...);
    return bytes;
}

class DamagedCapture : public testing::Test {
protected:
    /// What the reader says of the file, which is not to be opened.
    std::string rejection(const phy::CaptureOptions& options = {}) const {
        try {
            const phy::CaptureReader reader(path_, options);
        } catch (const phy::FileError& error) {
            std::string line = error.what();
            EXPECT_NE(line.find(directory_.path().string()), std::string::npos) << line;
            EXPECT_EQ(line.find('\n'), std::string::npos) << line;
            return line;
        }
        ADD_FAILURE() << "the capture was accepted";
        return "";
    }

    void expect_rejected(const std::vector<std::string>& parts,
                         const phy::CaptureOptions& options = {}) const {
        const std::string line = rejection(options);
        for (const std::string& part : parts)
            EXPECT_NE(line.find(part), std::string::npos) << "'" << part << "' is not in: " << line;
    }

    /// Whose elements lie in other files, and are not looked for in another folder.
    void expect_needs_own_folder() const {
        for (const char* variable : {"HDF5_EXTFILE_PREFIX", "HDF5_VDS_PREFIX"}) {
            const phy_test::EnvironmentVariable elsewhere(variable, "/tmp");
            expect_rejected({"/iq", "unset", variable}, {.external_files = true});
        }
    }

    /// Puts `with` in the place of `what` wherever it stands in the file, which is `times` times.
    void replace(const Bytes& what, const Bytes& with, int times = 1) const {
        std::ifstream in(path_, std::ios::binary);
        Bytes all{std::istreambuf_iterator<char>(in), {}};
        int found = 0;
        auto at = all.begin();
        while ((at = std::search(at, all.end(), what.begin(), what.end())) != all.end()) {
            at = std::copy(with.begin(), with.end(), at);
            ++found;
        }
        ASSERT_EQ(found, times) << "another version of HDF5 writes other bytes";
        std::ofstream(path_, std::ios::binary).write(all.data(), static_cast<std::streamsize>(all.size()));
    }

    /// A dataset /iq of pairs of float32 with these properties, of which the first `written` are.
    void create(const Dimensions& dimensions, hid_t properties, hsize_t written) const {
        const CaptureFile file(path_);
        const SpaceHandle space(
            H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr));
        const DatasetHandle dataset(
            H5Dcreate2(file.id(), "/iq", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
        ASSERT_GE(dataset, 0);
        if (written == 0) return;
        Dimensions count = dimensions;
        count[0] = written;
        const Dimensions start(count.size(), 0);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
        const SpaceHandle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
        const std::vector<float> values(1U << 16U, 0.5F);
        ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values.data()), 0);
    }

    static PropertiesHandle properties() { return PropertiesHandle(H5Pcreate(H5P_DATASET_CREATE)); }

    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "capture.h5";
    std::mt19937 random_{38};
    const phy_test::Components components_ = phy_test::random_components(100, random_);
};

TEST_F(DamagedCapture, ElementsOfNoBytes) {
    const std::vector<double> noise(100);
    CaptureFile(path_).iq("/iq", components_).dataset("/noise_variance", H5T_IEEE_F64LE, {100}, noise.data());
    // The datatype message of float64: class and version, three bytes of bit fields, the size.
    replace(bytes_of(std::uint8_t{0x11}, std::uint8_t{0x20}, std::uint8_t{63}, std::uint8_t{0}, 8U),
            bytes_of(std::uint8_t{0x11}, std::uint8_t{0x20}, std::uint8_t{63}, std::uint8_t{0}, 0U));
    expect_rejected({"/noise_variance"});
}

TEST_F(DamagedCapture, ChunksOfFewerDimensions) {
    const PropertiesHandle chunked = properties();
    const Dimensions chunk = {7, 2};
    H5Pset_chunk(chunked, 2, chunk.data());
    create({70, 2}, chunked, 70);
    // The end of the layout message: dimensions of a chunk and bytes of an element.
    replace(bytes_of(7U, 2U, 4U), bytes_of(7U, 0U, 4U));
    expect_rejected({"/iq"});

    create({70, 2}, chunked, 70);
    std::ifstream in(path_, std::ios::binary);
    const Bytes all{std::istreambuf_iterator<char>(in), {}};
    const Bytes dimensions = bytes_of(7U, 2U, 4U);
    const auto at = std::search(all.begin(), all.end(), dimensions.begin(), dimensions.end());
    ASSERT_GE(at - all.begin(), 11);
    // Before them: version 3, class 2 (chunked), how many there are, and an address.
    const Bytes head(at - 11, at);
    ASSERT_EQ(head[2], 3);
    Bytes fewer = head;
    fewer[2] = 2;
    replace(head, fewer);
    expect_rejected({"/iq"});
}

TEST_F(DamagedCapture, CompactStorageShorterThanTheDataset) {
    const PropertiesHandle compact = properties();
    H5Pset_layout(compact, H5D_COMPACT);
    create({1009, 2}, compact, 1009);
    EXPECT_EQ(phy::CaptureReader(path_).description().symbols, 1009U);
    replace(bytes_of(std::uint64_t{1009}, std::uint64_t{2}),
            bytes_of(std::uint64_t{100'000}, std::uint64_t{2}), 2);
    expect_rejected({"/iq", "damaged"});
}

TEST_F(DamagedCapture, ContiguousStorageShorterThanTheDataset) {
    CaptureFile(path_)
        .iq("/iq", components_)
        .dataset("/more", H5T_NATIVE_DOUBLE, {10'000}, std::vector<double>(10'000).data());
    replace(bytes_of(std::uint64_t{100}), bytes_of(std::uint64_t{600}), 2);
    expect_rejected({"/iq"});
}

TEST_F(DamagedCapture, ChunksThatWereNeverWritten) {
    const PropertiesHandle chunked = properties();
    const Dimensions chunk = {10, 2};
    H5Pset_chunk(chunked, 2, chunk.data());
    for (const hsize_t written : {0U, 10U, 90U}) {
        create({100, 2}, chunked, written);
        expect_rejected({"/iq", std::to_string(10 - written / 10) + " of 10 chunks were never written"});
    }
    create({100, 2}, chunked, 100);
    EXPECT_EQ(phy::CaptureReader(path_).description().symbols, 100U);

    H5Pset_deflate(chunked, 4);
    create({95, 2}, chunked, 95);
    EXPECT_EQ(phy::CaptureReader(path_).description().symbols, 95U);
    create({95, 2}, chunked, 90);
    expect_rejected({"/iq", "1 of 10 chunks were never written"});
}

TEST_F(DamagedCapture, ContiguousDatasetsThatWereNeverWritten) {
    create({100, 2}, properties(), 0);
    expect_rejected({"/iq", "never written"});
    CaptureFile(path_).iq("/iq", components_).dataset("/bits", H5T_NATIVE_UINT8, {100, 2}, nullptr);
    expect_rejected({"/bits", "never written"});
}

TEST_F(DamagedCapture, ExternalStorageIsFollowedWhereAskedFor) {
    const auto with_external = [&](const char* name, hsize_t bytes) {
        const PropertiesHandle external = properties();
        H5Pset_external(external, name, 64, bytes);
        create({100, 2}, external, 0);
    };
    const std::filesystem::path raw = directory_ / "raw.bin";
    const std::vector<float> values(200, 0.25F);
    const auto write_raw = [&](std::size_t bytes) {
        std::ofstream file(raw, std::ios::binary);
        file.write(std::string(64, 'x').data(), 64);
        file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(bytes));
    };
    write_raw(800);
    with_external("raw.bin", 800);
    expect_rejected({"/iq", "other files", "external-files"});
    {
        phy::CaptureReader reader(path_, {.external_files = true});
        EXPECT_EQ(phy_test::read_components(reader, 0, 100), std::vector<double>(200, 0.25));
        EXPECT_EQ(reader.description().files, (std::vector{path_, raw}));
    }

    expect_needs_own_folder();

    write_raw(799);
    expect_rejected({"/iq", "raw.bin", "too short"}, {.external_files = true});
    with_external("none.bin", 800);
    expect_rejected({"/iq", "none.bin", "not exist"}, {.external_files = true});
}

/// A virtual dataset /iq of two halves.
void create_virtual(const std::filesystem::path& path, const char* first, const char* second) {
    const CaptureFile file(path);
    const Dimensions all = {100, 2};
    const Dimensions half = {50, 2};
    const SpaceHandle space(H5Screate_simple(2, all.data(), nullptr));
    const SpaceHandle source(H5Screate_simple(2, half.data(), nullptr));
    const PropertiesHandle layout(H5Pcreate(H5P_DATASET_CREATE));
    for (const auto& [name, start] : {std::pair(first, hsize_t{0}), {second, hsize_t{50}}}) {
        if (name == nullptr) continue;
        const Dimensions from = {start, 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, from.data(), nullptr, half.data(), nullptr);
        H5Pset_virtual(layout, space, name, "/half", source);
    }
    H5Sselect_all(space);
    const DatasetHandle dataset(
        H5Dcreate2(file.id(), "/iq", H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    ASSERT_GE(dataset, 0);
}

TEST_F(DamagedCapture, VirtualDatasetsAreFollowedWhereAskedFor) {
    const phy::CaptureOptions asked = {.external_files = true};
    const auto half = [&](const char* name, hsize_t length, float value) {
        const std::vector<float> values(2 * length, value);
        CaptureFile(directory_ / name).dataset("/half", H5T_NATIVE_FLOAT, {length, 2}, values.data());
    };
    half("one.h5", 50, 1.0F);
    half("two.h5", 50, 2.0F);
    create_virtual(path_, "one.h5", "two.h5");
    expect_rejected({"/iq", "virtual", "external-files"});
    {
        phy::CaptureReader reader(path_, asked);
        EXPECT_EQ(phy_test::read_components(reader, 49, 2), (std::vector<double>{1.0, 1.0, 2.0, 2.0}));
        EXPECT_EQ(reader.description().files,
                  (std::vector{path_, directory_ / "one.h5", directory_ / "two.h5"}));
    }
    expect_needs_own_folder();
    half("two.h5", 49, 2.0F);
    expect_rejected({"/iq", "two.h5", "another size"}, asked);
    CaptureFile(directory_ / "two.h5").iq("/other", components_);
    expect_rejected({"/iq", "two.h5", "not exist"}, asked);
    std::filesystem::remove(directory_ / "two.h5");
    expect_rejected({"two.h5", "no such file"}, asked);
    create_virtual(path_, "one.h5", "one.h5");
    EXPECT_EQ(phy::CaptureReader(path_, asked).description().files,
              (std::vector{path_, directory_ / "one.h5"}));
    create_virtual(path_, "one.h5", nullptr);
    expect_rejected({"/iq", "expected all"}, asked);
    create_virtual(path_, ".", ".");
    expect_rejected({"/iq", "not exist"}, asked);
}

TEST_F(DamagedCapture, SourcesOfVirtualDatasetsAreHdf5) {
    const auto write = [&](const char* name, const std::string& bytes) {
        std::ofstream(directory_ / name, std::ios::binary) << bytes;
    };
    // Each would do as a capture whose dataset is /half.
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (50, 2)}\n";
    write("half.npy", std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header +
                          std::string(400, '\0'));
    write("half.sigmf-meta", R"({"global": {"core:datatype": "cf32_le"}})");
    write("half.sigmf-data", std::string(400, '\0'));
    for (const char* const name : {"half.npy", "half.sigmf-meta", "half.sigmf-data"}) {
        EXPECT_EQ(phy::CaptureReader(directory_ / name).description().symbols, 50U);
        create_virtual(path_, name, name);
        expect_rejected({"/iq", name, "not an HDF5 file"}, {.external_files = true});
    }
    const std::vector<float> values(100, 1.0F);
    CaptureFile(directory_ / "hdf5.sigmf-meta").dataset("/half", H5T_NATIVE_FLOAT, {50, 2}, values.data());
    create_virtual(path_, "hdf5.sigmf-meta", "hdf5.sigmf-meta");
    EXPECT_EQ(phy::CaptureReader(path_, {.external_files = true}).description().symbols, 100U);
}

TEST_F(DamagedCapture, VirtualDatasetsOfVirtualOnesAreNotFollowed) {
    create_virtual(directory_ / "one.h5", "two.h5", "two.h5");
    {
        const CaptureFile renamed(directory_ / "inner.h5");
        H5Lcreate_external("one.h5", "/iq", renamed.id(), "half", H5P_DEFAULT, H5P_DEFAULT);
    }
    create_virtual(path_, "inner.h5", "inner.h5");
    expect_rejected({"external link"}, {.external_files = true});

    CaptureFile(directory_ / "two.h5").iq("/half", components_);
    create_virtual(path_, "one.h5", "one.h5");
    {
        const phy::hdf5::FileHandle one(H5Fopen((directory_ / "one.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
        H5Lmove(one, "/iq", one, "/half", H5P_DEFAULT, H5P_DEFAULT);
    }
    expect_rejected({"virtual", "external-files"}, {.external_files = true});
}

TEST_F(DamagedCapture, FileOfANewerHdf5) {
    CaptureFile(path_).iq("/iq", components_);
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(8);
    file.put(9);
    file.close();
    expect_rejected({"version 9", "too new"});

    CaptureFile(path_).iq("/iq", components_);
    std::ifstream in(path_, std::ios::binary);
    const Bytes all{std::istreambuf_iterator<char>(in), {}};
    // The layout message of contiguous storage: version 3, class 1, an address, the bytes.
    const Bytes bytes = bytes_of(std::uint64_t{800});
    const auto at = std::search(all.begin(), all.end(), bytes.begin(), bytes.end());
    ASSERT_GE(at - all.begin(), 10);
    const Bytes message(at - 10, at);
    ASSERT_EQ(message[0], 3);
    Bytes newer = message;
    newer[0] = 5;
    replace(message, newer);
    expect_rejected({"/iq", "version", "too new"});
}

/// Text of variable length lies in a heap. HDF5 1.10 trusts what a file says of its sizes.
class DamagedText : public DamagedCapture {
protected:
    static constexpr const char* text = "256qam and a text that stands here once";

    void create_text() const { CaptureFile(path_).iq("/iq", components_).text("/iq", "modulation", text); }

    /// The bytes of the heap's object: its index, references, and length, before the text.
    [[nodiscard]] Bytes heap_object(std::uint64_t length) const {
        Bytes bytes = bytes_of(std::uint16_t{1}, std::uint16_t{0}, 0U, length);
        bytes.insert(bytes.end(), text, text + 6);
        return bytes;
    }
};

TEST_F(DamagedText, IsReadFromWhatTheFileHas) {
    create_text();
    expect_rejected({"unknown modulation", text});
    for (const std::uint64_t wrong :
         {std::uint64_t{3}, std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
        create_text();
        replace(heap_object(std::strlen(text)), heap_object(wrong));
        expect_rejected({"attribute modulation", "damaged"});
    }
    // The attribute: length, address of the collection, index.
    const auto length = static_cast<std::uint32_t>(std::strlen(text));
    for (const std::uint32_t wrong : {length + 60, 5000U, 0xFFFFFFFFU}) {
        create_text();
        std::ifstream in(path_, std::ios::binary);
        const Bytes all{std::istreambuf_iterator<char>(in), {}};
        const std::string_view signature = "GCOL";
        const auto heap = std::search(all.begin(), all.end(), signature.begin(), signature.end());
        ASSERT_NE(heap, all.end());
        const auto address = static_cast<std::uint64_t>(heap - all.begin());
        replace(bytes_of(length, address, 1U), bytes_of(wrong, address, 1U));
        expect_rejected({"attribute modulation", "damaged"});
        create_text();
        replace(bytes_of(length, address, 1U), bytes_of(length, address, 2U));
        expect_rejected({"attribute modulation", "damaged"});
        create_text();
        replace(bytes_of(length, address, 1U), bytes_of(length, std::uint64_t{wrong} << 8, 1U));
        expect_rejected({"attribute modulation", "damaged"});
        create_text();
        Bytes size = bytes_of(0U);
        std::memcpy(size.data(), "GCOL", 4);
        Bytes huge = size;
        append(size, 1U);
        append(huge, 1U);
        append(size, std::uint64_t{4096});
        append(huge, std::uint64_t{wrong} << 16);
        replace(size, huge);
        expect_rejected({"attribute modulation", "damaged"});
    }
}

TEST_F(DamagedText, IsFoundAmongManyAttributes) {
    // More than the first part of an object header has room for, and in files that begin with a user block.
    for (const hsize_t user_block : {0U, 512U, 2048U}) {
        {
            CaptureFile file(path_, user_block);
            file.iq("/iq", components_);
            for (std::size_t i = 0; i < 7; ++i)
                file.text("/iq", "note" + std::to_string(i), std::string(100 + 1000 * i, 'x'));
            file.text("/iq", "modulation", "64qam").text("/", "modulation", "qpsk");
        }
        EXPECT_EQ(phy::CaptureReader(path_).description().modulation, phy::Modulation::qam64);
    }
    CaptureFile(path_).iq("/iq", components_).text("/iq", "modulation", "").text("/", "modulation", "qpsk");
    expect_rejected({"unknown modulation ''"});
}

}  // namespace
