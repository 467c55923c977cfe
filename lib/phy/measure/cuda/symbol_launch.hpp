#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/measure/math/symbol_scale.hpp"

/// The interface between the host's side of the CUDA symbol meter and its kernels.
namespace phy::gpu::detail {

struct SymbolTuning {
    unsigned threads = 128;    ///< a block; a multiple of 32, at most 128
    unsigned log2_blocks = 0;  ///< blocks of the tree that a warp sums one after the other: at most 3
};

/// Depends on the amount of work alone, so that the size of a workspace does.
SymbolTuning symbol_tuning(std::uint64_t symbols);

struct SymbolJob {
    SampleFormat format;
    const std::byte* symbols;
    std::uint64_t size;  ///< not 0
    const float* sent;   ///< null: the nearest points
    std::uint64_t row;
    bool odd;  ///< the index of the first symbol is
    phy::detail::SymbolScale scale;
    SymbolSums* sums;
    SymbolSums* workspace;
};

std::uint64_t symbol_workspace(std::uint64_t symbols, std::uint64_t row, const SymbolTuning& tuning);

/// Starts kernels on the current device.
void launch(const SymbolJob& job, const SymbolTuning& tuning, cudaStream_t stream);

/// Has their code loaded.
void load_symbol_kernels(SampleFormat format);

}  // namespace phy::gpu::detail
