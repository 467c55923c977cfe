#pragma once

#include <cstddef>

/// Tuning of the receiver's own kernels: these numbers change speed, not results.
namespace phy::gpu::detail {

constexpr unsigned summary_threads = 64;   ///< per block and slot
constexpr unsigned channel_threads = 256;  ///< per block, of channels and of samples

/// Up to this number of slots in host memory, DM-RS symbols are read first: the channel is estimated while
/// the others are being copied.
constexpr std::size_t max_split_slots = 4;

/// A stage's call has slots of about this many bytes, within limits.
constexpr std::size_t call_bytes = std::size_t{32} << 20;
constexpr std::size_t min_call_slots = 16;
constexpr std::size_t max_call_slots = 1024;

}  // namespace phy::gpu::detail
