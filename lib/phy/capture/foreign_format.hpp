#pragma once

#include <span>
#include <string>

namespace phy::detail {

/// What a file is that begins so and cannot be read as a capture, and what would make a capture of it.
std::string foreign_format(std::span<const char> head);

}  // namespace phy::detail
