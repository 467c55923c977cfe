#pragma once

#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

/// Throws ArgumentError unless first <= value <= last. what: the name of the value, for the message.
inline void check_range(const char* what, long long value, long long first, long long last) {
    if (value >= first && value <= last) return;
    throw ArgumentError(std::string(what) + " " + std::to_string(value) + ": expected " +
                        std::to_string(first) + " to " + std::to_string(last));
}

}  // namespace phy::detail
