#pragma once

#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

/// Throws ArgumentError if a value was cast from a number that names none; last is the last one.
template <typename Enum>
void check_enum(const char* what, Enum value, Enum last) {
    const int number = static_cast<int>(value);
    if (number >= 0 && number <= static_cast<int>(last)) return;
    throw ArgumentError(std::string(what) + " is number " + std::to_string(number) + ": expected 0 to " +
                        std::to_string(static_cast<int>(last)));
}

}  // namespace phy::detail
