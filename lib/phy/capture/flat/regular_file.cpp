#include "phy/capture/flat/regular_file.hpp"

#include <fcntl.h>

#include <string>
#include <system_error>

#include "phy/core/file_error.hpp"

namespace phy::detail {

hdf5::PosixFile open_regular_file(const std::filesystem::path& path) {
    const std::string name = path.string();
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (status.type() == std::filesystem::file_type::not_found) throw file_error(name, "no such file");
    if (std::filesystem::is_directory(status)) throw file_error(name, "is a directory, expected a file");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw file_error(name, "is not a regular file, expected one");
    return hdf5::PosixFile(path, O_RDONLY, 0, name);
}

}  // namespace phy::detail
