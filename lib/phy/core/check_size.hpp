#pragma once

#include <cstddef>
#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

/// Throws ArgumentError unless size equals expected. what: the name of the span, for the message.
inline void check_size(const char* what, std::size_t size, std::size_t expected) {
    if (size == expected) return;
    throw ArgumentError(std::string(what) + " has " + std::to_string(size) + " elements: expected " +
                        std::to_string(expected));
}

/// Throws ArgumentError if slots is 0 but another array is not empty. Expected sizes follow from the number
/// of slots, so without this check the message would name the wrong array.
inline void check_slots(std::size_t slots, const char* what, std::size_t size) {
    if (slots != 0 || size == 0) return;
    throw ArgumentError(std::string("slots has 0 elements: expected one per slot, as ") + what + " has " +
                        std::to_string(size) + " elements");
}

}  // namespace phy::detail
