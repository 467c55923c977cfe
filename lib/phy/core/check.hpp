#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>

#include "phy/core/error.hpp"

/// Checks of arguments, and numbers in the texts of errors.
namespace phy::detail {

/// Throws ArgumentError unless the value lies from 0 to last. what: the name of the value, for the message.
template <typename Enum>
void check_enum(const char* what, Enum value, Enum last) {
    const int number = static_cast<int>(value);
    if (number >= 0 && number <= static_cast<int>(last)) return;
    throw ArgumentError(std::string(what) + " is number " + std::to_string(number) + ": expected 0 to " +
                        std::to_string(static_cast<int>(last)));
}

/// Throws ArgumentError unless size equals expected. what: the name of the span, for the message.
inline void check_size(const char* what, std::size_t size, std::size_t expected) {
    if (size == expected) return;
    throw ArgumentError(std::string(what) + " has " + std::to_string(size) + " elements: expected " +
                        std::to_string(expected));
}

/// No array has more elements. Their bytes, and their bits per symbol, are numbers of 64 bits.
inline constexpr std::size_t max_elements = std::size_t{1} << 56;

/// Returns a number of elements; throws ArgumentError if no array has so many.
inline std::size_t checked_elements(std::size_t size) {
    if (size <= max_elements) return size;
    throw ArgumentError("an array has " + std::to_string(size) + " elements: expected at most 2^56");
}

/// Throws ArgumentError if slots is 0 but another array is not empty. Expected sizes follow from the number
/// of slots, so without this check the message would name the wrong array.
inline void check_slots(std::size_t slots, const char* what, std::size_t size) {
    if (slots != 0 || size == 0) return;
    throw ArgumentError(std::string("slots has 0 elements: expected one per slot, as ") + what + " has " +
                        std::to_string(size) + " elements");
}

/// The shortest text that reads back as the same number. (std::to_string writes 1e-7 as 0.)
inline std::string number_text(std::floating_point auto number) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), end};
}

/// Throws ArgumentError unless first <= value <= last. what: the name of the value, for the message.
inline void check_range(const char* what, long long value, long long first, long long last) {
    if (value >= first && value <= last) return;
    throw ArgumentError(std::string(what) + " " + std::to_string(value) + ": expected " +
                        std::to_string(first) + " to " + std::to_string(last));
}

}  // namespace phy::detail
