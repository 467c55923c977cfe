#pragma once

#include <cstdint>

#include "phy/cuda/stream.hpp"

/// The interface between the host's side of CUDA Gold sequences and their kernel.
namespace phy::gpu::detail {

struct GoldJob {
    const std::uint32_t* c_init;  ///< of each codeword; null: one_c_init of the only one
    std::uint32_t one_c_init;
    std::uint32_t first_state;        ///< of the first sequence, at the first bit
    std::uint32_t second_polynomial;  ///< what takes the second sequence there
    std::uint64_t codewords;          ///< not 0
    std::uint64_t length;             ///< bits of each, a multiple of 32; not 0
    std::uint32_t kept;               ///< the lowest bits of all words that stay as they are, below 32
};

/// Starts a kernel on the current device.
void launch_words(const GoldJob& job, std::uint32_t* words, cudaStream_t stream);

}  // namespace phy::gpu::detail
