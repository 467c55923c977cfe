#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace phy::detail {

/// The number of characters to insert, remove or change to turn a into b.
inline std::size_t typing_errors(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

/// The names that somebody who typed another one may have meant: those that begin like it, or the most
/// similar one; none if no name is like it.
inline std::vector<std::string_view> similar_names(std::string_view typed,
                                                   std::span<const std::string_view> names) {
    // Such as mcs for mcs_index.
    constexpr std::size_t shortest = 3;
    constexpr std::size_t longest = 64;
    std::vector<std::string_view> similar;
    if (names.empty() || typed.size() > longest) return similar;
    for (const std::string_view name : names)
        if (typed.size() >= shortest && name.starts_with(typed)) similar.push_back(name);
    if (!similar.empty()) return similar;
    const auto errors = [typed](std::string_view name) { return typing_errors(typed, name); };
    const std::string_view nearest = *std::ranges::min_element(names, {}, errors);
    const std::size_t allowed = std::min(std::max<std::size_t>(2, nearest.size() / 3), typed.size() / 2);
    if (errors(nearest) <= allowed) similar.push_back(nearest);
    return similar;
}

}  // namespace phy::detail
