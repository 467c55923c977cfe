#include "phy/demapper/cuda/launch.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <cuda_runtime_api.h>

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

/// Neighbouring jobs run at the same time. Jobs with the same code stand together, or warps would wait for
/// instructions. The largest constellations come first, because short blocks balance the end better.
void arrange_jobs(Batch& batch) {
    const auto code = [](const Job& job) { return std::tuple(job.constellation, job.loading, job.formula); };
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
    while ((batch.blocks - 1) >> batch.part_shift >= max_parts)
        ++batch.part_shift;
    std::uint32_t job = 0;
    for (std::uint64_t part = 0; part <= max_parts; ++part) {
        while (job + 1 < batch.jobs && batch.first_block[job + 1] <= part << batch.part_shift)
            ++job;
        batch.job_of_part[part] = static_cast<std::uint8_t>(job);
    }
}

void add_flips(const Job& job, Flips& flips) {
    if (job.signs == nullptr) return;
    const auto of_symbol = static_cast<std::size_t>(bytes_of_symbol(job.constellation, flips.format));
    flips.call[flips.calls++] = {job.llr, job.signs, job.count * (of_symbol / size_of(flips.format))};
}

}  // namespace

void launch(Algorithm algorithm, const Job& job, const Common& common, const Device& device,
            cudaStream_t stream) {
    if (algorithm == Algorithm::closed_form && runs_as_batch(common.format, job.count)) {
        Batch batch;
        batch.common = common;
        batch.jobs = 1;
        batch.job[0] = job;
        return launch(algorithm, batch, stream);
    }
    const AlgorithmKernels& kernels = kernels_of(algorithm);
    const bool fused = kernels.flips && common.counters == nullptr;
    kernels.launch_job(job, common, fused && job.signs != nullptr, device, stream);
    check(cudaGetLastError());
    if (fused || job.signs == nullptr) return;
    Flips flips{.format = common.format, .calls = 0, .call = {}};
    add_flips(job, flips);
    launch_flips(flips, stream);
}

void launch(Algorithm algorithm, Batch& batch, cudaStream_t stream) {
    const AlgorithmKernels& kernels = kernels_of(algorithm);
    arrange_jobs(batch);
    find_blocks(kernels, batch);
    Flips flips{.format = batch.common.format, .calls = 0, .call = {}};
    for (std::uint32_t i = 0; i < batch.jobs; ++i)
        add_flips(batch.job[i], flips);
    const bool fused = kernels.flips && batch.common.counters == nullptr;
    kernels.launch_batch(batch, fused && flips.calls > 0, stream);
    check(cudaGetLastError());
    if (!fused && flips.calls > 0) launch_flips(flips, stream);
}

void load(Algorithm algorithm, Constellation constellation, SoftBitFormat format) {
    kernels_of(algorithm).load_job(constellation, format);
    if (algorithm == Algorithm::closed_form && runs_as_batch(format, batch_symbols))
        kernels_of(algorithm).load_batch(format);
    load_flips(format);
}

void load_batch(Algorithm algorithm, SoftBitFormat format) {
    kernels_of(algorithm).load_batch(format);
    load_flips(format);
}

}  // namespace phy::gpu::detail
