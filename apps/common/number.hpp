#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

/// Numbers as users type them.
namespace phy::apps {

/// A whole number with an exponent, a decimal point or a suffix: 1e6, 2.5k, 64Ki. No value if it is not
/// whole, or above 2^64 - 1.
std::optional<std::uint64_t> parse_natural(std::string_view text);

/// A number with a suffix: the double nearest to 122.88M is that of 122.88e6.
std::optional<double> parse_real(std::string_view text);

/// Parses all of text as a number. k, M, G, T stand for powers of 1000, Ki, Mi, Gi, Ti for powers of 1024. A
/// number has an exponent or one of them, not both.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
    T plain{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, plain);
    if (error == std::errc() && stopped == end) return plain;
    if constexpr (std::floating_point<T>) {
        const std::optional<double> value = parse_real(text);
        return value && std::abs(*value) <= std::numeric_limits<T>::max()
                   ? std::optional(static_cast<T>(*value))
                   : std::nullopt;
    } else {
        const bool negative = std::signed_integral<T> && text.starts_with('-');
        const std::optional<std::uint64_t> size = parse_natural(text.substr(negative ? 1 : 0));
        if (!size || !std::in_range<T>(*size)) return std::nullopt;
        return static_cast<T>(negative ? -static_cast<T>(*size) : static_cast<T>(*size));
    }
}

}  // namespace phy::apps
