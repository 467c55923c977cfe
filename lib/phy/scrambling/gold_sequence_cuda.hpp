#pragma once

#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy::gpu {

/// phy::gold_sequence() in device memory. Writes words.size() / c_init.size() words for each c_init, one
/// sequence after another. c_init is one number, or an array in device memory; only the lowest 31 bits of its
/// values count.
///
/// A call is one launch on the caller's stream, which must belong to the device: it returns at once,
/// allocates nothing, does not wait, and can be captured in a graph. Values of c_init in device memory may
/// change between launches of the graph. Both arrays must be in memory that the device can reach, and must
/// stay there until the work is done. Throws ArgumentError if words.size() is not a multiple of
/// c_init.size(), and for a number of more than 31 bits.
PHY_EXPORT void gold_sequence(const Device& device, DeviceSpan<const std::uint32_t> c_init,
                              std::uint64_t first, DeviceSpan<std::uint32_t> words, cudaStream_t stream);
PHY_EXPORT void gold_sequence(const Device& device, std::uint32_t c_init, std::uint64_t first,
                              DeviceSpan<std::uint32_t> words, cudaStream_t stream);

}  // namespace phy::gpu
