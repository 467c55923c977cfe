#pragma once

// Before any header of Highway: the instruction sets that do not fuse multiply and add would round
// differently.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/detect_targets.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace phy::detail {

/// A SIMD instruction set that SIMD code is compiled for, and its number in Highway.
struct InstructionSet {
    std::string_view name;
    std::string_view description;
    std::int64_t highway_target;

    /// True if it is compiled for this architecture.
    [[nodiscard]] constexpr bool built_in() const { return (HWY_TARGETS & highway_target) != 0; }

    /// True if it is built in and this machine has it.
    [[nodiscard]] bool supported() const;
};

/// Best first.
inline constexpr std::array instruction_sets = {
    InstructionSet{"avx512", "AVX-512, 16 lanes of binary32", HWY_AVX3},
    InstructionSet{"avx2", "AVX2 and FMA, 8 lanes of binary32", HWY_AVX2},
    InstructionSet{"neon", "NEON, 4 lanes of binary32", HWY_NEON},
};

constexpr std::string_view name_of_target(std::int64_t highway_target) {
    for (const InstructionSet& set : instruction_sets) {
        if (set.highway_target == highway_target) return set.name;
    }
    return {};
}

}  // namespace phy::detail
