#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <string>

namespace phy::detail {

/// The shortest text that reads back as the same number. (std::to_string writes 1e-7 as 0.)
inline std::string number_text(std::floating_point auto number) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), end};
}

}  // namespace phy::detail
