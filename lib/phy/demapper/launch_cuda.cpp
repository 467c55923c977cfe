#include "phy/demapper/launch_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <cuda_runtime_api.h>

#include "phy/demapper/families_cuda.hpp"

namespace phy::gpu::detail {
namespace {

const Family& family_of(Evaluation evaluation) {
    switch (evaluation) {
        case Evaluation::closed_form:
            return closed_form_family;
        case Evaluation::log_sum:
            return log_sum_family;
        case Evaluation::table:
            break;
    }
    return table_family;
}

std::uint64_t symbols_of_block(const Family& family, Grid grid, const Common& common) {
    const Shape shape = family.shape_in_batch(grid, common.format);
    return static_cast<std::uint64_t>(symbols_of_block(shape, common.counters != nullptr));
}

/// Neighbours run at the same time, so those with the same code come together, or warps wait for
/// instructions; the largest constellations come first, because short blocks fill the end better.
void arrange_jobs(Batch& batch) {
    const auto code = [](const Job& job) { return std::tuple(job.grid, job.format, job.law); };
    std::sort(batch.job, batch.job + batch.jobs,
              [&](const Job& a, const Job& b) { return code(a) > code(b); });
}

void find_blocks(const Family& family, Batch& batch) {
    batch.blocks = 0;
    for (std::uint32_t i = 0; i < batch.jobs; ++i) {
        const std::uint64_t of_block = symbols_of_block(family, batch.job[i].grid, batch.common);
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

void launch(Evaluation evaluation, const Job& job, const Common& common, const Device& device,
            cudaStream_t stream) {
    family_of(evaluation).launch_job(job, common, device, stream);
    check(cudaGetLastError());
}

void launch(Evaluation evaluation, Batch& batch, cudaStream_t stream) {
    const Family& family = family_of(evaluation);
    arrange_jobs(batch);
    find_blocks(family, batch);
    family.launch_batch(batch, stream);
    check(cudaGetLastError());
}

void load(Evaluation evaluation, Grid grid, SoftBitFormat format) {
    family_of(evaluation).load_job(grid, format);
}

void load_batch(Evaluation evaluation, SoftBitFormat format) {
    family_of(evaluation).load_batch(format);
}

}  // namespace phy::gpu::detail
