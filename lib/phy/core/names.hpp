#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "phy/core/error.hpp"

namespace phy::detail {

// Not std::tolower(): names must not depend on the locale.
constexpr char to_lower(char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

/// The element of values whose to_string() is name, in upper or lower case. Throws ArgumentError, which lists
/// the names. kind: what they name, for the message ("modulation").
template <typename Values>
typename Values::value_type parse_name(std::string_view kind, std::string_view name, const Values& values) {
    std::string expected;
    for (const auto value : values) {
        if (same_name(to_string(value), name)) return value;
        expected.append(expected.empty() ? "" : ", ").append(to_string(value));
    }
    throw ArgumentError("unknown " + std::string(kind) + " '" + std::string(name) + "': expected one of " +
                        expected);
}

}  // namespace phy::detail
