#pragma once

/// The numbers that decide how fast OFDM on a GPU is, and nothing else.
namespace phy::gpu::detail {

constexpr unsigned points_of_thread = 8;               ///< of a transform, or more where it has too many
constexpr unsigned max_transform_threads = 512;        ///< of a block
constexpr unsigned threads_of_small_transforms = 128;  ///< so many of them share a block
constexpr unsigned deprecoding_threads = 256;          ///< a block, which an OFDM symbol has for itself

/// Blocks a multiprocessor that registers must leave room for; one of compute capability 7.5 has 1024
/// threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned resident_transform_blocks = 2;
#else
constexpr unsigned resident_transform_blocks = 3;
#endif

}  // namespace phy::gpu::detail
