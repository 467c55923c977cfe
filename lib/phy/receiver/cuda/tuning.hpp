#pragma once

#include <cstddef>

/// The numbers that decide how fast a receiver's own kernels are, and nothing else.
namespace phy::gpu::detail {

constexpr unsigned summary_threads = 1024;  ///< a block, which a slot has for itself
constexpr unsigned summary_loads = 4;       ///< pieces of 16 bytes that a thread has in flight
constexpr unsigned channel_threads = 256;   ///< a block

/// Of so many slots whose samples come over the link, those of DM-RS come first: the channel is estimated
/// while the others are on their way.
constexpr std::size_t max_split_slots = 4;

/// Slots of a stage's calls: as many as bring so many bytes, within limits.
constexpr std::size_t call_bytes = std::size_t{32} << 20;
constexpr std::size_t min_call_slots = 16;
constexpr std::size_t max_call_slots = 1024;

}  // namespace phy::gpu::detail
