#include "phy/capture/file_error.hpp"

#include <algorithm>
#include <string>

namespace phy::detail {

FileError file_error(std::string_view subject, std::string_view problem) {
    std::string line = std::string(subject) + ": " + std::string(problem);
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return FileError(line);
}

}  // namespace phy::detail
