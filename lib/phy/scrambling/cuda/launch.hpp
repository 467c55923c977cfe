#pragma once

#include <cstdint>

#include "phy/cuda/stream.hpp"

/// The interface between the host side of CUDA Gold sequences and their kernel.
namespace phy::gpu::detail {

// Tuning: these numbers affect speed only.

constexpr unsigned gold_threads = 128;  ///< per block

/// Neighbouring words of c per lane: more need fewer jumps, fewer let more warps share a codeword.
constexpr unsigned words_of_lane = 8;

struct GoldJob {
    const std::uint32_t* c_init;  ///< one per codeword; null: one_c_init of the only one
    std::uint32_t one_c_init;
    std::uint32_t first_state;        ///< state of the first sequence at the first bit
    std::uint32_t second_polynomial;  ///< moves the second sequence there
    std::uint64_t codewords;          ///< not 0
    std::uint64_t length;             ///< bits per codeword, a multiple of 32; not 0
    std::uint32_t kept;               ///< first bits of all words that stay unchanged, below 32
};

/// Starts a kernel on the current device.
void launch_words(const GoldJob& job, std::uint32_t* words, cudaStream_t stream);

}  // namespace phy::gpu::detail
