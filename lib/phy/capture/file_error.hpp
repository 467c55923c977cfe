#pragma once

#include <string_view>

#include "phy/core/error.hpp"

namespace phy::detail {

/// "subject: problem" on one line. The subject is a file, or a file and what is in it.
FileError file_error(std::string_view subject, std::string_view problem);

}  // namespace phy::detail
