#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/capture/hdf5/handle.hpp"
#include "phy/capture/hdf5/hdf5_type.hpp"

namespace phy_test {

/// The components of symbols, I and Q in turn: integers from -128 to 127, which every number type of captures
/// represents exactly.
using Components = std::vector<int>;

Components random_components(std::size_t symbols, std::mt19937& random);

/// A file made with the HDF5 library directly, as by other programs.
class CaptureFile {
public:
    explicit CaptureFile(const std::filesystem::path& path, hsize_t user_block = 0);

    struct Storage {
        phy::hdf5::Dimensions chunk;  ///< empty: contiguous
        bool gzip = false;
    };

    CaptureFile& dataset(const std::string& path, hid_t type, const phy::hdf5::Dimensions& dimensions,
                         const void* data, const Storage& storage);
    CaptureFile& dataset(const std::string& path, hid_t type, const phy::hdf5::Dimensions& dimensions,
                         const void* data) {
        return dataset(path, type, dimensions, data, Storage());
    }

    /// IQ in any layout; dimensions are those of the symbols.
    CaptureFile& iq(const std::string& path, const phy::hdf5::IqLayout& layout,
                    const phy::hdf5::Dimensions& dimensions, const Components& components,
                    const Storage& storage);

    /// Simple IQ: a compound of float32, one dimension.
    CaptureFile& iq(const std::string& path, const Components& components);

    CaptureFile& group(const std::string& path);

    /// Attributes of the object at this path. Text has variable length, or fixed length with padding.
    CaptureFile& number(const std::string& path, const std::string& name, double value);
    CaptureFile& text(const std::string& path, const std::string& name, const std::string& value);
    CaptureFile& fixed_text(const std::string& path, const std::string& name, const std::string& value,
                            std::size_t length, H5T_str_t padding);

    [[nodiscard]] hid_t id() const { return file_; }

private:
    CaptureFile& attribute(const std::string& path, const std::string& name, hid_t type, const void* value);

    phy::hdf5::FileHandle file_;
};

/// The layout of two contiguous numbers.
phy::hdf5::IqLayout packed_layout(phy::hdf5::IqLayout::Kind kind, phy::hdf5::NumberType number);

/// Symbols first ... first + count - 1 of a reader with any format, in the file's units.
std::vector<double> read_components(phy::CaptureReader& reader, std::uint64_t first, std::size_t count);

std::vector<double> slice(const Components& components, std::uint64_t first, std::size_t count);

}  // namespace phy_test
