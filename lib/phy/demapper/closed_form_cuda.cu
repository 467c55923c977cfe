#include "phy/demapper/direct_cuda.cuh"
#include "phy/demapper/dispatch_cuda.cuh"
#include "phy/demapper/families_cuda.hpp"

namespace phy::gpu::detail {
namespace {

template <SoftBitFormat format, int of_lane>
struct ClosedForm {
    static constexpr int fewest_bits = 1;
    static constexpr bool by_law = format == SoftBitFormat::int8;  // others saturate where no receiver works
    template <Grid grid, Law law>
    using Evaluator = Direct<grid, format, law, of_lane>;
};

void launch_one(const Job& job, const Common& common, const Device& /*device*/, cudaStream_t stream) {
    with_format(common.format, [&](auto format) {
        if (job.count <= few_symbols) {
            launch_job<ClosedForm<format(), lane_of_few>>(job, common, stream);
        } else {
            launch_job<ClosedForm<format(), lane_of_many>>(job, common, stream);
        }
    });
}

void launch_many(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format,
                [&](auto format) { launch_batch<ClosedForm<format(), lane_of_batch>>(batch, stream); });
}

Shape shape_in_batch(Grid grid, SoftBitFormat format) {
    return closed_form_shape(grid, format, lane_of_batch);
}

void load_one(Grid grid, SoftBitFormat of_output) {
    with_format(of_output, [&](auto format) {
        load_job<ClosedForm<format(), lane_of_few>>(grid);
        load_job<ClosedForm<format(), lane_of_many>>(grid);
    });
}

void load_many(SoftBitFormat of_output) {
    with_format(of_output, [](auto format) { load_batch<ClosedForm<format(), lane_of_batch>>(); });
}

}  // namespace

const Family closed_form_family = {launch_one, launch_many, shape_in_batch, load_one, load_many};

}  // namespace phy::gpu::detail
