#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/measure/soft_bit_sums.hpp"

/// The interface between the host side of the CUDA soft-bit meter and its kernels.
namespace phy::gpu::detail {

struct SoftBitTuning {
    unsigned threads = 128;    ///< per block; a multiple of 32, at most 128
    unsigned log2_blocks = 0;  ///< blocks of the tree per warp, at most 4
};

/// Depends only on the amount of work, so that the workspace size does too.
SoftBitTuning soft_bit_tuning(std::uint64_t soft_bits);

struct SoftBitJob {
    SoftBitFormat format;
    const std::byte* soft_bits;
    const std::uint8_t* truth;  ///< null: no comparison
    std::uint64_t size;         ///< not 0
    std::uint64_t row;
    int clip;
    SoftBitSums* sums;
    SoftBitSums* workspace;
};

std::uint64_t soft_bit_workspace(std::uint64_t soft_bits, std::uint64_t row, const SoftBitTuning& tuning);

/// Starts kernels on the current device.
void launch(const SoftBitJob& job, const SoftBitTuning& tuning, cudaStream_t stream);

/// Loads their code.
void load_soft_bit_kernels(SoftBitFormat format);

}  // namespace phy::gpu::detail
