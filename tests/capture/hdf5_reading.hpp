#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "phy/capture/hdf5/handle.hpp"

/// Reads files with the HDF5 library directly. Throws if it cannot.
namespace phy_test {

phy::hdf5::FileHandle open_hdf5(const std::filesystem::path& path);

phy::hdf5::Dimensions dimensions_in(hid_t file, const std::string& path);

/// In alphabetical order.
std::vector<std::string> attribute_names(hid_t file, const std::string& path);
std::string text_in(hid_t file, const std::string& path, const std::string& attribute);
double number_in(hid_t file, const std::string& path, const std::string& attribute);

/// The stored elements; their size must be that of the dataset's values.
std::vector<char> stored_bytes(hid_t file, const std::string& path);

template <typename Value>
std::vector<Value> read_dataset(hid_t file, const std::string& path) {
    const std::vector<char> bytes = stored_bytes(file, path);
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::memcpy(static_cast<void*>(values.data()), bytes.data(), values.size() * sizeof(Value));
    return values;
}

}  // namespace phy_test
