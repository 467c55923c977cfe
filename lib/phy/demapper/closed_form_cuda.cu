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

}  // namespace

void launch_closed_form(const Job& job, const Common& common, cudaStream_t stream) {
    with_format(common.format, [&](auto format) {
        if (job.count <= few_symbols) {
            launch_job<ClosedForm<format(), lane_of_few>>(job, common, stream);
        } else {
            launch_job<ClosedForm<format(), lane_of_many>>(job, common, stream);
        }
    });
}

void launch_closed_form(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format,
                [&](auto format) { launch_batch<ClosedForm<format(), lane_of_batch>>(batch, stream); });
}

}  // namespace phy::gpu::detail
