#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/resampler/filter.hpp"

#include <cuda_runtime_api.h>

namespace phy::gpu::detail {

/// A team of lanes, one for each partial sum, makes as many outputs at a time.
inline constexpr unsigned resampler_team = phy::detail::partial_sums;

// Tuning: these numbers affect speed only.

inline constexpr unsigned resampler_threads = 256;  ///< per block
inline constexpr unsigned resampler_window = 5120;  ///< input samples of a block, in shared memory

struct ResampleJob {
    phy::detail::Polyphase filter = {};
    std::uint64_t min_step = 0;
    std::uint64_t max_step = 0;
    SampleFormat format = SampleFormat::cf32;
    float unit = 1.0F;
    const std::byte* input = nullptr;
    const ResampledRow* rows = nullptr;
    cf32* output = nullptr;
    phy::detail::ResampledSizes sizes = {};
    bool aligned = false;     ///< input to whole samples, and output
    unsigned teams = 0;       ///< of a block that have outputs
    unsigned window = 0;      ///< input samples of a block
    unsigned row_blocks = 0;  ///< per row
};

void prepare_resample();
void launch(const ResampleJob& job, cudaStream_t stream);

}  // namespace phy::gpu::detail
