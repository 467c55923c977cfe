#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/backend.hpp"
#include "phy/core/format.hpp"

/// Array operations that several operators share: conversion between stored formats and binary32, sign
/// changes, counts, and copies past the caches.
namespace phy::detail {

/// Arrays that these kernels write as binary32 or narrow must have room for this many more elements, because
/// kernels process whole vectors.
inline constexpr std::size_t padding = 64;

/// Number of words of signs that ArrayKernels::flip reads for this many soft bits; the last ones may be
/// unused.
constexpr std::size_t words_of_signs(std::size_t soft_bits) {
    return (soft_bits + 31) / 32 + 2;
}

struct ArrayKernels {
    using Widen = void (*)(const void* in, float* out, std::size_t count, float unit);
    using Narrow = void (*)(const float* in, void* out, std::size_t count);
    using Flip = void (*)(const void* in, void* out, std::size_t count, const std::uint32_t* signs);
    using CountMagnitude = std::uint64_t (*)(const void* soft_bits, std::size_t count, unsigned magnitude);

    /// By SampleFormat: converts components to binary32 and multiplies them by unit.
    std::array<Widen, SampleTypes::size> widen;

    /// By SoftBitFormat: rounds binary32 to nearest even. Null for formats that kernels write themselves.
    std::array<Narrow, SoftBitTypes::size> narrow;

    /// By SoftBitFormat: negates soft bits whose bit in signs is 1 (the least significant bit of a word is
    /// the first). The most negative integer becomes the largest. in and out may be the same.
    std::array<Flip, SoftBitTypes::size> flip;

    /// By SoftBitFormat: counts soft bits equal to +-magnitude, given as the bit pattern of the positive one.
    /// Null for binary32, which is not counted.
    std::array<CountMagnitude, SoftBitTypes::size> count_magnitude;

    std::uint64_t (*count_not_finite)(const float* components, std::size_t count);

    /// Copies past the caches. Other threads see the data after finish_streams().
    void (*stream)(const std::byte* in, std::byte* out, std::size_t bytes);
    void (*finish_streams)();
};

/// Throws BackendError if the backend does not run on this machine or needs device memory.
const ArrayKernels& array_kernels(const Backend& backend);

/// Returns `count` signs from `first` on, beginning at the lowest bit and padded for ArrayKernels::flip: in
/// place if possible, otherwise in the room for words_of_signs(count) words.
const std::uint32_t* signs_from(std::span<const std::uint32_t> signs, std::size_t first, std::size_t count,
                                std::uint32_t* room);

/// True for the soft-bit formats that kernels compute in binary32 and narrow() rounds.
constexpr bool is_narrowed(SoftBitFormat format) {
    return size_of(format) == 2;
}

}  // namespace phy::detail
