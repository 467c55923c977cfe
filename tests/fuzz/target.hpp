#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "phy/core/error.hpp"

/// Shared by all libFuzzer targets. If LLVMFuzzerTestOneInput() ends the program instead of returning, that
/// is a finding, like every report of a sanitizer.
namespace phy_fuzz {

/// Hands out the input from its front, then zeros.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(std::as_bytes(std::span(data, size))) {}

    template <typename Number>
    Number take() {
        Number number{};
        const std::size_t bytes = std::min(sizeof(number), rest_.size());
        std::memcpy(&number, rest_.data(), bytes);
        rest_ = rest_.subspan(bytes);
        return number;
    }

    /// One of `choices`, selected by a byte.
    template <typename Choices>
    const auto& choose(const Choices& choices) {
        return choices[take<std::uint8_t>() % std::size(choices)];
    }

    std::span<const std::byte> take_bytes(std::size_t most) {
        const auto bytes = rest_.first(std::min(most, rest_.size()));
        rest_ = rest_.subspan(bytes.size());
        return bytes;
    }

    [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

private:
    std::span<const std::byte> rest_;
};

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// The result of work() (true for void), or none if it throws a phy::Error, whose text must be one line. Any
/// other exception is a finding.
template <typename Work>
auto answer(Work work) {
    constexpr bool returns_nothing = std::is_void_v<std::invoke_result_t<Work>>;
    using Result =
        std::conditional_t<returns_nothing, std::optional<bool>, std::optional<std::invoke_result_t<Work>>>;
    try {
        if constexpr (returns_nothing) {
            work();
            return Result(true);
        } else {
            return Result(work());
        }
    } catch (const phy::Error& error) {
        const std::string_view text = error.what();
        require(!text.empty() && text.find('\n') == std::string_view::npos, "an error is one line");
        return Result();
    }
}

}  // namespace phy_fuzz
