#pragma once

/// Tuning of OFDM on a GPU: these numbers change speed, not results.
namespace phy::gpu::detail {

constexpr unsigned points_of_thread = 8;               ///< per transform; more for large ones
constexpr unsigned max_transform_threads = 512;        ///< per block
constexpr unsigned threads_of_small_transforms = 128;  ///< shared by transforms of a block
constexpr unsigned deprecoding_threads = 256;          ///< per block and OFDM symbol

/// Blocks per multiprocessor that registers must leave room for; one of compute capability 7.5 has 1024
/// threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned resident_transform_blocks = 2;
#else
constexpr unsigned resident_transform_blocks = 3;
#endif

}  // namespace phy::gpu::detail
