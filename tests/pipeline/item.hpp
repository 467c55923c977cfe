#pragma once

#include <cstddef>
#include <cstdint>

namespace phy_test {

inline constexpr std::size_t item_in = 3;   ///< bytes of an item that FakeStage takes
inline constexpr std::size_t item_out = 5;  ///< and gives

/// What FakeStage makes of an item: all its bytes and its number matter.
constexpr void put_item(std::uint64_t number, const std::byte* in, std::byte* out) {
    const std::uint64_t mixed = (number + 1) * 0x9E3779B97F4A7C15U;
    for (std::size_t i = 0; i < item_out; ++i)
        out[i] = in[i % item_in] ^ static_cast<std::byte>(mixed >> (24 + 8 * i));
}

}  // namespace phy_test
