#include "capture/scrambling.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"

namespace phy::apps {

namespace {

/// Decimal, or hexadecimal after 0x.
std::optional<std::uint32_t> parse_whole(std::string_view text) {
    if (!text.starts_with("0x")) return parse_number<std::uint32_t>(text);
    const std::string_view digits = text.substr(2);
    std::uint32_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, value, 16);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

}  // namespace

ScramblingIdentity parse_scrambling(const char* option, const std::string& text) {
    const std::vector<std::string> parts = split(text);
    const auto number = [&](std::size_t index, std::uint32_t most) -> std::optional<std::uint32_t> {
        if (index >= parts.size()) return index == 2 ? std::optional(0U) : std::nullopt;
        const auto value = parse_whole(parts[index]);
        return value && *value <= most ? value : std::nullopt;
    };
    const auto rnti = number(0, 65535);
    const auto id = number(1, 1023);
    const auto codeword = number(2, 1);
    if (parts.size() > 3 || !rnti || !id || !codeword)
        throw ArgumentError(fmt::format(
            "{} {}: expected n_RNTI,n_ID or n_RNTI,n_ID,q, whole numbers up to 65535, 1023 and 1, "
            "such as 17921 or 0x4601",
            option, text));
    return {.rnti = *rnti, .id = *id, .codeword = static_cast<int>(*codeword)};
}

}  // namespace phy::apps
