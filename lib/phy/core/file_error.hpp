#pragma once

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "phy/core/error.hpp"

namespace phy::detail {

/// "subject: problem" on one line. The subject is a file, or a file and a part of it.
inline FileError file_error(std::string_view subject, std::string_view problem) {
    std::string line = std::string(subject) + ": " + std::string(problem);
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return FileError(line);
}

/// The system's message for errno.
inline std::string system_error_text() {
    return std::generic_category().message(errno);
}

}  // namespace phy::detail
