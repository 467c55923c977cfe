#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/measure/math/symbol_scale.hpp"

/// The interface between the host side of the CUDA symbol meter and its kernels.
namespace phy::gpu::detail {

struct SymbolTuning {
    unsigned threads = 128;    ///< per block; a multiple of 32, at most 128
    unsigned log2_blocks = 0;  ///< blocks of the tree per warp, at most 3
};

/// Depends only on the amount of work, so that the workspace size does too.
SymbolTuning symbol_tuning(std::uint64_t symbols);

struct SymbolJob {
    SampleFormat format;
    const std::byte* symbols;
    std::uint64_t size;           ///< not 0
    const float* sent;            ///< null: the nearest points
    const float* noise_variance;  ///< null: none; else symbols are cf32, and sent is null
    std::uint64_t row;
    bool odd;  ///< index of the first symbol is odd
    phy::detail::SymbolScale scale;
    SymbolSums* sums;
    SymbolSums* workspace;
};

std::uint64_t symbol_workspace(std::uint64_t symbols, std::uint64_t row, const SymbolTuning& tuning);

/// Starts kernels on the current device.
void launch(const SymbolJob& job, const SymbolTuning& tuning, cudaStream_t stream);

/// Loads their code.
void load_symbol_kernels(SampleFormat format);

}  // namespace phy::gpu::detail
