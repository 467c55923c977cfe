#include "common/number.hpp"

#include <charconv>
#include <limits>
#include <string>

namespace phy::apps {
namespace {

/// A number without its suffix, which is factor^power.
struct Scaled {
    std::string_view digits;
    unsigned factor;
    int power;
};

Scaled scaled(std::string_view text) {
    constexpr std::string_view prefixes = "kMGT";
    const bool binary = text.ends_with('i');
    const std::string_view decimal = text.substr(0, text.size() - (binary ? 1 : 0));
    if (decimal.empty()) return {text, 1, 0};
    char prefix = decimal.back();
    if (binary && prefix == 'K') prefix = 'k';
    const std::size_t at = prefixes.find(prefix);
    if (at == std::string_view::npos || (binary && decimal.back() == 'k')) return {text, 1, 0};
    return {decimal.substr(0, decimal.size() - 1), binary ? 1024U : 1000U, static_cast<int>(at) + 1};
}

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

/// number * factor^power if that is whole and below 2^64; power may be negative.
std::optional<std::uint64_t> times(std::uint64_t number, unsigned factor, int power) {
    for (; power > 0 && number != 0; --power) {
        if (number > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
        number *= factor;
    }
    for (; power < 0 && number != 0; ++power) {
        if (number % factor != 0) return std::nullopt;
        number /= factor;
    }
    return number;
}

}  // namespace

std::optional<std::uint64_t> parse_natural(std::string_view text) {
    const Scaled number = scaled(text);
    std::string_view left = number.digits;
    std::uint64_t digits = 0;
    int exponent = 0;
    bool point = false;
    bool any = false;
    for (; !left.empty() && (is_digit(left.front()) || (left.front() == '.' && !point));
         left.remove_prefix(1)) {
        if (left.front() == '.') {
            point = true;
            continue;
        }
        const std::optional<std::uint64_t> shifted = times(digits, 10, 1);
        const auto digit = static_cast<std::uint64_t>(left.front() - '0');
        if (!shifted || *shifted > std::numeric_limits<std::uint64_t>::max() - digit) return std::nullopt;
        digits = *shifted + digit;
        exponent -= point ? 1 : 0;
        any = true;
    }
    if (!any) return std::nullopt;
    if (!left.empty()) {
        if ((left.front() != 'e' && left.front() != 'E') || number.power != 0) return std::nullopt;
        left.remove_prefix(1);
        if (left.starts_with("+-")) return std::nullopt;
        left.remove_prefix(left.starts_with('+') ? 1 : 0);
        int written = 0;
        const auto [stopped, error] = std::from_chars(left.data(), left.data() + left.size(), written);
        if (error != std::errc() || stopped != left.data() + left.size() || written > 100 || written < -100)
            return std::nullopt;
        exponent += written;
    }
    // The power of 1000 joins the exponent, so that 2.5k is whole.
    if (number.factor == 1000) return times(digits, 10, exponent + 3 * number.power);
    if (exponent >= 0) {
        const std::optional<std::uint64_t> whole = times(digits, 10, exponent);
        return whole ? times(*whole, number.factor, number.power) : std::nullopt;
    }
    const std::optional<std::uint64_t> shifted = times(digits, number.factor, number.power);
    return shifted ? times(*shifted, 10, exponent) : std::nullopt;
}

std::optional<double> parse_real(std::string_view text) {
    const Scaled number = scaled(text);
    const bool decimal = number.factor == 1000;
    // As text, because the product of the nearest numbers is not always the nearest number.
    std::string typed(number.digits);
    if (typed.empty() || !is_digit(typed.back()) || typed.find_first_of("eE") != std::string::npos)
        return std::nullopt;
    if (decimal) {
        typed += 'e';
        typed += std::to_string(3 * number.power);
    }
    double value = 0.0;
    const auto [stopped, error] = std::from_chars(typed.data(), typed.data() + typed.size(), value);
    if (error != std::errc() || stopped != typed.data() + typed.size()) return std::nullopt;
    for (int i = 0; i < number.power && !decimal; ++i)
        value *= number.factor;
    return value;
}

}  // namespace phy::apps
