#pragma once

#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

/// Throws ArgumentError unless the value lies from 0 to last. what: the name of the value, for the message.
template <typename Enum>
void check_enum(const char* what, Enum value, Enum last) {
    const int number = static_cast<int>(value);
    if (number >= 0 && number <= static_cast<int>(last)) return;
    throw ArgumentError(std::string(what) + " is number " + std::to_string(number) + ": expected 0 to " +
                        std::to_string(static_cast<int>(last)));
}

}  // namespace phy::detail
