#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace phy {

/// FNV-1a of bytes, or of bytes after others: tells damaged bytes from whole ones, but not from forged ones
/// (draft-eastlake-fnv).
[[nodiscard]] constexpr std::uint64_t digest_of(std::span<const std::byte> bytes,
                                                std::uint64_t before = 0xCBF29CE484222325U) {
    for (const std::byte byte : bytes)
        before = (before ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    return before;
}

}  // namespace phy
