#pragma once

#include "phy/demapper/launch_cuda.hpp"

/// The families of kernels, each in its own file: one job, or a batch of jobs of one family.
namespace phy::gpu::detail {

void launch_closed_form(const Job& job, const Common& common, cudaStream_t stream);
void launch_closed_form(const Batch& batch, cudaStream_t stream);

void launch_log_sum(const Job& job, const Common& common, cudaStream_t stream);
void launch_log_sum(const Batch& batch, cudaStream_t stream);

void launch_table(const Job& job, const Common& common, const Device& device, cudaStream_t stream);
void launch_table(const Batch& batch, cudaStream_t stream);

}  // namespace phy::gpu::detail
