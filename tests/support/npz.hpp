#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace phy_test {

/// A NumPy array in C order.
struct NpyArray {
    std::string type;  ///< NumPy's name: "<c8", "|u1", "<U441"
    std::vector<std::size_t> shape;
    std::vector<std::byte> bytes;

    /// The elements; throws unless the type is T.
    template <typename T>
    [[nodiscard]] std::vector<T> as(const std::string& expected_type) const {
        static_assert(std::is_trivially_copyable_v<T>);
        if (type != expected_type) throw std::runtime_error("array of " + type + ", not " + expected_type);
        std::vector<T> elements(bytes.size() / sizeof(T));
        std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
        return elements;
    }

    /// The text of an array with one ASCII string.
    [[nodiscard]] std::string text() const;
};

/// Reads all arrays of a file written by numpy.savez or savez_compressed; Python unpacks it. Throws
/// std::runtime_error.
std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path);

/// The folder of third-party vectors: tests/vectors, or PHY_VECTORS in the environment.
std::filesystem::path vectors_directory();

}  // namespace phy_test
