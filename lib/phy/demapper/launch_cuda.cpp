#include "phy/demapper/launch_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <cuda_runtime_api.h>

#include "phy/demapper/families_cuda.hpp"
#include "phy/demapper/tuning_cuda.hpp"

namespace phy::gpu::detail {
namespace {

/// Of a batch.
Shape shape_of(Evaluation evaluation, Grid grid, SoftBitFormat format) {
    switch (evaluation) {
        case Evaluation::closed_form:
            return closed_form_shape(grid, format, lane_of_batch);
        case Evaluation::log_sum:
            return log_sum_shape(grid, format);
        case Evaluation::table:
            break;
    }
    return global_table_shape(grid, format);
}

std::uint64_t symbols_of_block(Evaluation evaluation, Grid grid, const Common& common) {
    const Shape shape = shape_of(evaluation, grid, common.format);
    return static_cast<std::uint64_t>(symbols_of_block(shape, common.counters != nullptr));
}

/// Neighbours run at the same time, so those with the same code come together, or warps wait for
/// instructions; the largest constellations come first, because short blocks fill the end better.
void arrange_jobs(Batch& batch) {
    const auto code = [](const Job& job) { return std::tuple(job.grid, job.format, job.law); };
    std::sort(batch.job, batch.job + batch.jobs,
              [&](const Job& a, const Job& b) { return code(a) > code(b); });
}

void find_blocks(Evaluation evaluation, Batch& batch) {
    batch.blocks = 0;
    for (std::uint32_t i = 0; i < batch.jobs; ++i) {
        const std::uint64_t of_block = symbols_of_block(evaluation, batch.job[i].grid, batch.common);
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
    switch (evaluation) {
        case Evaluation::closed_form:
            launch_closed_form(job, common, stream);
            break;
        case Evaluation::log_sum:
            launch_log_sum(job, common, stream);
            break;
        case Evaluation::table:
            launch_table(job, common, device, stream);
            break;
    }
    check(cudaGetLastError());
}

void launch(Evaluation evaluation, Batch& batch, cudaStream_t stream) {
    arrange_jobs(batch);
    find_blocks(evaluation, batch);
    switch (evaluation) {
        case Evaluation::closed_form:
            launch_closed_form(batch, stream);
            break;
        case Evaluation::log_sum:
            launch_log_sum(batch, stream);
            break;
        case Evaluation::table:
            launch_table(batch, stream);
            break;
    }
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
