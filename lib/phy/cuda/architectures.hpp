#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace phy::detail {

/// True if code for one entry of a list such as CMAKE_CUDA_ARCHITECTURES runs on a device. Machine code
/// ("-real") runs on later minor versions, PTX ("-virtual") on all later versions; an entry without suffix
/// has both. With "a" after the number the code runs on that version only, with "f" on that major version
/// only.
constexpr bool architecture_covers(std::string_view architecture, int compute_capability) {
    int number = 0;
    const char* const end = architecture.data() + architecture.size();
    const char* after = architecture.data();
    for (; after != end && *after >= '0' && *after <= '9'; ++after)
        number = 10 * number + (*after - '0');
    // "all" and "all-major" have PTX for the latest architecture and machine code for the others.
    if (number == 0) return true;
    const std::string_view suffix(after, static_cast<std::size_t>(end - after));
    if (suffix.starts_with('a')) return compute_capability == number;
    const bool ptx = !suffix.ends_with("-real") && !suffix.starts_with('f');
    return compute_capability >= number && (ptx || compute_capability / 10 == number / 10);
}

/// The same for a list separated by spaces.
constexpr bool architectures_cover(std::string_view architectures, int compute_capability) {
    while (!architectures.empty()) {
        const std::string_view entry = architectures.substr(0, architectures.find(' '));
        if (architecture_covers(entry, compute_capability)) return true;
        architectures.remove_prefix(std::min(entry.size() + 1, architectures.size()));
    }
    return false;
}

}  // namespace phy::detail
