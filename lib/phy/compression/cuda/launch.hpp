#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"

/// The interface between the CUDA decompressor on the host and its kernels.
namespace phy::gpu::detail {

// Tuning: this number affects speed only.

/// Resource blocks per block of threads, three threads for each. A multiple of 16, so that each tile begins
/// at a multiple of 16 bytes.
constexpr unsigned decompressor_tile = 64;

struct DecompressionJob {
    const std::byte* in;
    std::byte* out;
    SampleFormat format;   ///< of the output: ci16 or cf32
    std::uint64_t blocks;  ///< not 0
    int width;
    bool has_exponent;
    float unit;  ///< cf32: the value of an integer 1
};

/// Starts a kernel on the current device.
void launch(const DecompressionJob& job, cudaStream_t stream);

}  // namespace phy::gpu::detail
