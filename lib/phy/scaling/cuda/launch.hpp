#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"

/// The interface between the host's side of the CUDA scaler and its kernels.
namespace phy::gpu::detail {

struct ScalingJob {
    SampleFormat format;
    const std::byte* in;
    std::byte* out;         ///< in cf32
    std::uint64_t symbols;  ///< not 0
    float factor;
};

/// Starts a kernel on the current device.
void launch(const ScalingJob& job, int multiprocessors, cudaStream_t stream);

}  // namespace phy::gpu::detail
