#include <algorithm>
#include <bit>
#include <cctype>
#include <string>

#include "phy/capture/capture.hpp"
#include "phy/capture/write/output.hpp"

namespace phy {

OutputFormat output_format(const std::filesystem::path& file) {
    std::string ending = file.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (ending == ".npy") return OutputFormat::npy;
    return ending == ".raw" ? OutputFormat::raw : OutputFormat::hdf5;
}

namespace hdf5 {

namespace {

/// NumPy's name of a type of numbers in the byte order of this machine, such as "<f4".
std::string npy_type(hid_t type) {
    constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
    const std::size_t bytes = H5Tget_size(type);
    std::string name(1, bytes == 1 ? '|' : native);
    if (H5Tget_class(type) == H5T_FLOAT) {
        name += 'f';
    } else {
        name += H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i';
    }
    return name + std::to_string(bytes);
}

}  // namespace

std::string npy_header(hid_t type, const Dimensions& dimensions) {
    constexpr std::size_t alignment = 64;
    std::string shape;
    for (const hsize_t dimension : dimensions)
        shape += (shape.empty() ? "" : ", ") + std::to_string(dimension);
    if (dimensions.size() == 1) shape += ',';
    std::string text =
        "{'descr': '" + npy_type(type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    std::string header("\x93NUMPY\x01\x00\0\0", 10);
    const std::size_t end = (header.size() + text.size() + alignment) / alignment * alignment;
    text.resize(end - header.size() - 1, ' ');
    text += '\n';
    header[8] = static_cast<char>(text.size() % 256);
    header[9] = static_cast<char>(text.size() / 256);
    return header + text;
}

}  // namespace hdf5
}  // namespace phy
