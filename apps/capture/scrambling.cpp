#include "capture/scrambling.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"

namespace phy::apps {

ScramblingIdentity parse_scrambling(const char* option, const std::string& text) {
    const std::vector<std::string> parts = split(text);
    const auto number = [&](std::size_t index, std::uint32_t most) -> std::optional<std::uint32_t> {
        if (index >= parts.size()) return index == 2 ? std::optional(0U) : std::nullopt;
        const auto value = parse_number<std::uint32_t>(parts[index]);
        return value && *value <= most ? value : std::nullopt;
    };
    const auto rnti = number(0, 65535);
    const auto id = number(1, 1023);
    const auto codeword = number(2, 1);
    if (parts.size() > 3 || !rnti || !id || !codeword)
        throw ArgumentError(
            fmt::format("{} {}: expected n_RNTI,n_ID or n_RNTI,n_ID,q, whole numbers up to 65535, 1023 and 1",
                        option, text));
    return {.rnti = *rnti, .id = *id, .codeword = static_cast<int>(*codeword)};
}

}  // namespace phy::apps
