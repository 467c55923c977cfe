#pragma once

/// Tuning of CUDA Gold sequences: these numbers change the speed alone.
namespace phy::gpu::detail {

constexpr unsigned gold_threads = 128;  ///< per block

/// Neighbouring words of c per lane: more need fewer jumps, fewer let more warps share a codeword.
constexpr unsigned words_of_lane = 8;

}  // namespace phy::gpu::detail
