#pragma once

#include "phy/cuda/warp.hpp"
#include "phy/demapper/cuda/launch.hpp"

namespace phy::gpu::detail {

/// The kernels of one algorithm.
struct AlgorithmKernels {
    /// flips needs AlgorithmKernels::flips and a launch without counters.
    void (*launch_job)(const Job& job, const Common& common, bool flips, const Device& device,
                       cudaStream_t stream);
    void (*launch_batch)(const Batch& batch, bool flips, cudaStream_t stream);
    Shape (*shape_in_batch)(Constellation constellation, SoftBitFormat format);

    /// Load the code for every job with that constellation and format, or every batch with that format.
    void (*load_job)(Constellation constellation, SoftBitFormat format);
    void (*load_batch)(SoftBitFormat format);

    bool flips;  ///< it can apply signs
};

// Each is defined in its own file.
extern const AlgorithmKernels closed_form_kernels;
extern const AlgorithmKernels log_sum_kernels;
extern const AlgorithmKernels table_kernels;

}  // namespace phy::gpu::detail
