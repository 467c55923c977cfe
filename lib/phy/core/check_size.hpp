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

}  // namespace phy::detail
