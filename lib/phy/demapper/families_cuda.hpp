#pragma once

#include "phy/demapper/launch_cuda.hpp"
#include "phy/demapper/tuning_cuda.hpp"

namespace phy::gpu::detail {

/// A family of kernels: what one kind of evaluation can do.
struct Family {
    void (*launch_job)(const Job& job, const Common& common, const Device& device, cudaStream_t stream);
    void (*launch_batch)(const Batch& batch, cudaStream_t stream);
    Shape (*shape_in_batch)(Grid grid, SoftBitFormat format);

    /// Load the code for every job with that grid and format, or every batch with that format.
    void (*load_job)(Grid grid, SoftBitFormat format);
    void (*load_batch)(SoftBitFormat format);
};

// Each in its own file.
extern const Family closed_form_family;
extern const Family log_sum_family;
extern const Family table_family;

}  // namespace phy::gpu::detail
