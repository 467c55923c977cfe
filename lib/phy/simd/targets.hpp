#pragma once

// Before any header of Highway. Instruction sets without a fused multiply-add would round differently.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/detect_targets.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The SIMD instruction sets that kernels are compiled for. To change them, change this list and the macros
/// at the end of this file.
namespace phy::detail {

/// An instruction set and its number in Highway.
struct InstructionSet {
    std::string_view name;
    std::string_view description;
    std::int64_t highway_target;

    /// True if kernels are compiled for it on this architecture.
    [[nodiscard]] constexpr bool built_in() const { return (HWY_TARGETS & highway_target) != 0; }

    /// True if it is built in and this machine supports it.
    [[nodiscard]] bool supported() const;
};

/// Fastest first.
inline constexpr std::array instruction_sets = {
    InstructionSet{"avx512", "AVX-512, 16 lanes of binary32", HWY_AVX3},
    InstructionSet{"avx2", "AVX2 and FMA, 8 lanes of binary32", HWY_AVX2},
    InstructionSet{"neon", "NEON, 4 lanes of binary32", HWY_NEON},
};

}  // namespace phy::detail

/// True while a file is compiled for an instruction set of the list. Highway has others; its one-lane target
/// is replaced by the scalar kernels.
#define PHY_IS_SIMD_TARGET (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON)

#if HWY_TARGETS & HWY_AVX3
#define PHY_ADDRESS_IN_AVX512(object) (&N_AVX3::object)
#else
#define PHY_ADDRESS_IN_AVX512(object) nullptr
#endif
#if HWY_TARGETS & HWY_AVX2
#define PHY_ADDRESS_IN_AVX2(object) (&N_AVX2::object)
#else
#define PHY_ADDRESS_IN_AVX2(object) nullptr
#endif
#if HWY_TARGETS & HWY_NEON
#define PHY_ADDRESS_IN_NEON(object) (&N_NEON::object)
#else
#define PHY_ADDRESS_IN_NEON(object) nullptr
#endif

/// The addresses of an object in the namespaces of the instruction sets, in the order of the list; null for
/// sets that are not built in.
#define PHY_ADDRESSES_BY_TARGET(object) \
    { PHY_ADDRESS_IN_AVX512(object), PHY_ADDRESS_IN_AVX2(object), PHY_ADDRESS_IN_NEON(object) }
