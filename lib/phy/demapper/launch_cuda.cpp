#include "phy/demapper/launch_cuda.hpp"

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

}  // namespace

int symbols_of_block(Evaluation evaluation, Grid grid, const Common& common) {
    return symbols_of_block(shape_of(evaluation, grid, common.format), common.counters != nullptr);
}

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

void launch(Evaluation evaluation, const Batch& batch, cudaStream_t stream) {
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
