#pragma once

#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy::gpu {

/// phy::gold_sequence() in device memory, for each c_init: words.size() / c_init.size() words of it, one
/// sequence after another. c_init is an array in device memory, of whose values the lowest 31 bits count, or
/// one number.
///
/// A call is one launch on the caller's stream, which belongs to the device: it returns at once, allocates
/// nothing, does not wait, and can be captured in a graph, where c_init in device memory may change between
/// launches. Both arrays are in memory that the device can reach, and stay there until the work is done.
/// Throws ArgumentError where words is no multiple of c_init, and for a number of more than 31 bits.
PHY_EXPORT void gold_sequence(const Device& device, DeviceSpan<const std::uint32_t> c_init,
                              std::uint64_t first, DeviceSpan<std::uint32_t> words, cudaStream_t stream);
PHY_EXPORT void gold_sequence(const Device& device, std::uint32_t c_init, std::uint64_t first,
                              DeviceSpan<std::uint32_t> words, cudaStream_t stream);

}  // namespace phy::gpu
