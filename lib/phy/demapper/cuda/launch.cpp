#include "phy/demapper/cuda/launch.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <cuda_runtime_api.h>

#include "phy/demapper/cuda/algorithm_kernels.hpp"
#include "phy/demapper/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

const AlgorithmKernels& kernels_of(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::closed_form:
            return closed_form_kernels;
        case Algorithm::log_sum:
            return log_sum_kernels;
        case Algorithm::table:
            break;
    }
    return table_kernels;
}

std::uint64_t symbols_of_block(const AlgorithmKernels& kernels, Constellation constellation,
                               const Common& common) {
    const Shape shape = kernels.shape_in_batch(constellation, common.format);
    return static_cast<std::uint64_t>(symbols_of_block(shape, common.counters != nullptr));
}

/// Neighbours run at the same time, so those with the same code come together, or warps wait for
/// instructions; the largest constellations come first, because short blocks fill the end better.
void arrange_jobs(Batch& batch) {
    const auto code = [](const Job& job) { return std::tuple(job.constellation, job.format, job.formula); };
    std::sort(batch.job, batch.job + batch.jobs,
              [&](const Job& a, const Job& b) { return code(a) > code(b); });
}

void find_blocks(const AlgorithmKernels& kernels, Batch& batch) {
    batch.blocks = 0;
    for (std::uint32_t i = 0; i < batch.jobs; ++i) {
        const std::uint64_t of_block = symbols_of_block(kernels, batch.job[i].constellation, batch.common);
        batch.first_block[i] = batch.blocks;
        batch.blocks += static_cast<std::uint32_t>((batch.job[i].count + of_block - 1) / of_block);
    }
    batch.part_shift = 0;
    while ((batch.blocks - 1) >> batch.part_shift >= most_parts)
        ++batch.part_shift;
    std::uint32_t job = 0;
    for (std::uint64_t part = 0; part <= most_parts; ++part) {
        while (job + 1 < batch.jobs && batch.first_block[job + 1] <= part << batch.part_shift)
            ++job;
        batch.job_of_part[part] = static_cast<std::uint8_t>(job);
    }
}

}  // namespace

void launch(Algorithm algorithm, const Job& job, const Common& common, const Device& device,
            cudaStream_t stream) {
    kernels_of(algorithm).launch_job(job, common, device, stream);
    check(cudaGetLastError());
}

void launch(Algorithm algorithm, Batch& batch, cudaStream_t stream) {
    const AlgorithmKernels& kernels = kernels_of(algorithm);
    arrange_jobs(batch);
    find_blocks(kernels, batch);
    kernels.launch_batch(batch, stream);
    check(cudaGetLastError());
}

void load(Algorithm algorithm, Constellation constellation, SoftBitFormat format) {
    kernels_of(algorithm).load_job(constellation, format);
}

void load_batch(Algorithm algorithm, SoftBitFormat format) {
    kernels_of(algorithm).load_batch(format);
}

}  // namespace phy::gpu::detail
