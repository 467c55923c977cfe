#include "support/npz.hpp"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/subprocess.hpp"
#include "support/temporary_directory.hpp"

namespace phy_test {
namespace {

/// The value of a name in the header, which is a Python literal.
std::string header_value(const std::string& header, const std::string& name, char first, char last) {
    const std::size_t from = header.find(first, header.find("'" + name + "'") + name.size() + 2);
    const std::size_t to = header.find(last, from + 1);
    if (to == std::string::npos) throw std::runtime_error("no " + name + " in header " + header);
    return header.substr(from + 1, to - from - 1);
}

NpyArray read_npy(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string stored(std::istreambuf_iterator<char>(file), {});
    constexpr std::size_t before_header = 10;
    if (stored.size() < before_header || stored.substr(1, 5) != "NUMPY" || stored[6] != 1)
        throw std::runtime_error(path.string() + " is not an array of NumPy's format 1");
    const std::size_t length = static_cast<unsigned char>(stored[8]) +
                               256U * static_cast<std::size_t>(static_cast<unsigned char>(stored[9]));
    const std::string header = stored.substr(before_header, length);
    if (header.find("'fortran_order': False") == std::string::npos)
        throw std::runtime_error(path.string() + " is not in C order");

    NpyArray array;
    array.type = header_value(header, "descr", '\'', '\'');
    std::size_t number = 0;
    bool has_number = false;
    for (const char c : header_value(header, "shape", '(', ')') + ',') {
        if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            number = 10 * number + static_cast<std::size_t>(c - '0');
            has_number = true;
        } else if (c == ',' && has_number) {
            array.shape.push_back(number);
            number = 0;
            has_number = false;
        }
    }
    for (const char c : stored.substr(before_header + length))
        array.bytes.push_back(static_cast<std::byte>(c));
    return array;
}

}  // namespace

std::string NpyArray::text() const {
    if (type.substr(0, 2) != "<U") throw std::runtime_error("array of " + type + ", not a string");
    std::string characters;
    for (std::size_t i = 0; i < bytes.size() && bytes[i] != std::byte{}; i += 4)
        characters += static_cast<char>(bytes[i]);
    return characters;
}

std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path) {
    const TemporaryDirectory directory;
    const auto outcome =
        phy::test::run({"python3", "-m", "zipfile", "-e", path.string(), directory.path().string()});
    if (outcome.status != 0) throw std::runtime_error("python3 cannot unpack " + path.string());
    std::map<std::string, NpyArray> arrays;
    for (const std::string& name : directory.names())
        arrays[std::filesystem::path(name).stem().string()] = read_npy(directory / name);
    return arrays;
}

std::filesystem::path vectors_directory() {
    const char* const given = std::getenv("PHY_VECTORS");
    return given != nullptr ? given : PHY_VECTORS_DIRECTORY;
}

}  // namespace phy_test
