#include "phy/demapper/direct_cuda.cuh"
#include "phy/demapper/dispatch_cuda.cuh"
#include "phy/demapper/families_cuda.hpp"

namespace phy::gpu::detail {
namespace {

template <SoftBitFormat format>
struct ClosedForm {
    static constexpr int fewest_bits = 1;
    template <Grid grid>
    using Evaluator = Direct<grid, format, closest_law(grid, Law::all_segments)>;
};

}  // namespace

void launch_closed_form(const Job& job, const Common& common, cudaStream_t stream) {
    with_format(common.format, [&](auto format) { launch_job<ClosedForm<format()>>(job, common, stream); });
}

void launch_closed_form(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format, [&](auto format) { launch_batch<ClosedForm<format()>>(batch, stream); });
}

}  // namespace phy::gpu::detail
