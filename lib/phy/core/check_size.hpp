#pragma once

#include <cstddef>
#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

/// Throws ArgumentError unless a span has as many elements as it should; what names the span.
inline void check_size(const char* what, std::size_t size, std::size_t expected) {
    if (size == expected) return;
    throw ArgumentError(std::string(what) + " has " + std::to_string(size) + " elements: expected " +
                        std::to_string(expected));
}

/// Throws ArgumentError if there are arrays of slots, but not one slot: sizes are reckoned from the slots, so
/// that any other array would be blamed.
inline void check_slots(std::size_t slots, const char* what, std::size_t size) {
    if (slots != 0 || size == 0) return;
    throw ArgumentError(std::string("slots has 0 elements: expected one a slot, as ") + what + " has " +
                        std::to_string(size) + " elements");
}

}  // namespace phy::detail
