#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/backend.hpp"
#include "phy/core/format.hpp"

/// What several operators do to arrays: conversions between stored formats and binary32, changes of sign,
/// counts, and copies past the caches.
namespace phy::detail {

/// Arrays that these kernels write as binary32, and those that they narrow, have room for whole vectors: for
/// up to this many elements more than said.
inline constexpr std::size_t padding = 64;

/// The words of signs that ArrayKernels::flip reads for so many soft bits, some of which do not matter.
constexpr std::size_t words_of_signs(std::size_t soft_bits) {
    return (soft_bits + 31) / 32 + 2;
}

struct ArrayKernels {
    using Widen = void (*)(const void* in, float* out, std::size_t count, float unit);
    using Narrow = void (*)(const float* in, void* out, std::size_t count);
    using Flip = void (*)(const void* in, void* out, std::size_t count, const std::uint32_t* signs);
    using CountMagnitude = std::uint64_t (*)(const void* soft_bits, std::size_t count, unsigned magnitude);

    /// By SampleFormat: components as numbers; integers are multiplied by unit.
    std::array<Widen, SampleTypes::size> widen;

    /// By SoftBitFormat: from binary32, to nearest even. Null where kernels write the format themselves.
    std::array<Narrow, SoftBitTypes::size> narrow;

    /// By SoftBitFormat: soft bits, negated where their bit of signs is 1 (the least significant bit of a
    /// word is its first); of integers the least one becomes the greatest. in and out may be the same.
    std::array<Flip, SoftBitTypes::size> flip;

    /// By SoftBitFormat: how many soft bits are +-magnitude, which is given by the bits of the positive one.
    /// Null for binary32, which is not counted.
    std::array<CountMagnitude, SoftBitTypes::size> count_magnitude;

    std::uint64_t (*count_not_finite)(const float* components, std::size_t count);

    /// Copies past the caches. Other threads see it after finish_streams.
    void (*stream)(const std::byte* in, std::byte* out, std::size_t bytes);
    void (*finish_streams)();
};

/// Throws BackendError if the backend does not run here or needs device memory.
const ArrayKernels& array_kernels(const Backend& backend);

extern const ArrayKernels scalar_array_kernels;

/// True for the formats of soft bits that kernels make in binary32 and narrow() rounds.
constexpr bool is_narrowed(SoftBitFormat format) {
    return size_of(format) == 2;
}

}  // namespace phy::detail
