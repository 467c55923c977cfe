#include "phy/demapper/direct_cuda.cuh"
#include "phy/demapper/dispatch_cuda.cuh"
#include "phy/demapper/families_cuda.hpp"

namespace phy::gpu::detail {
namespace {

template <SoftBitFormat format>
struct LogSum {
    static constexpr int fewest_bits = 2;
    static constexpr bool by_law = false;
    template <Grid grid, Law>
    using Evaluator = Direct<grid, format, Law::log_map, 1>;
};

}  // namespace

void launch_log_sum(const Job& job, const Common& common, cudaStream_t stream) {
    with_format(common.format, [&](auto format) { launch_job<LogSum<format()>>(job, common, stream); });
}

void launch_log_sum(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format, [&](auto format) { launch_batch<LogSum<format()>>(batch, stream); });
}

}  // namespace phy::gpu::detail
