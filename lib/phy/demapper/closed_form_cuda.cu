#include "phy/demapper/direct_cuda.cuh"
#include "phy/demapper/dispatch_cuda.cuh"
#include "phy/demapper/families_cuda.hpp"

namespace phy::gpu::detail {
namespace {

template <SoftBitFormat format, int of_lane, Law law = Law::all_segments>
struct ClosedForm {
    static constexpr int fewest_bits = 1;
    template <Grid grid>
    using Evaluator = Direct<grid, format, closest_law(grid, law), of_lane>;
};

template <SoftBitFormat format, Law law>
void launch_by_size(const Job& job, const Common& common, cudaStream_t stream) {
    if (job.count <= few_symbols) {
        launch_job<ClosedForm<format, lane_of_few, law>>(job, common, stream);
    } else {
        launch_job<ClosedForm<format, lane_of_many, law>>(job, common, stream);
    }
}

}  // namespace

void launch_closed_form(const Job& job, const Common& common, cudaStream_t stream) {
    with_format(common.format, [&](auto format) {
        // Others saturate where no receiver works.
        if constexpr (format() == SoftBitFormat::int8) {
            if (job.law == Law::one_segment)
                return launch_by_size<format(), Law::one_segment>(job, common, stream);
            if (job.law == Law::two_segments)
                return launch_by_size<format(), Law::two_segments>(job, common, stream);
        }
        launch_by_size<format(), Law::all_segments>(job, common, stream);
    });
}

void launch_closed_form(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format,
                [&](auto format) { launch_batch<ClosedForm<format(), lane_of_batch>>(batch, stream); });
}

}  // namespace phy::gpu::detail
