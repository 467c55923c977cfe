#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Arithmetic on sizes and addresses.
namespace phy::detail {

/// whole / piece, rounded up.
constexpr std::uint64_t pieces_of(std::uint64_t whole, std::uint64_t piece) {
    return whole / piece + (whole % piece != 0 ? 1 : 0);
}

/// value, which is at least 0, rounded up to a multiple; if that overflows, rounded down.
template <std::integral Integer>
constexpr Integer round_up(Integer value, Integer multiple) {
    const Integer above = value % multiple;
    if (above == 0) return value;
    const Integer below = value - above;
    return below > std::numeric_limits<Integer>::max() - multiple ? below : below + multiple;
}

inline bool is_aligned(const void* address, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

}  // namespace phy::detail
