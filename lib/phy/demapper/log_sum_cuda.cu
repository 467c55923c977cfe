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

void launch_one(const Job& job, const Common& common, const Device& /*device*/, cudaStream_t stream) {
    with_format(common.format, [&](auto format) { launch_job<LogSum<format()>>(job, common, stream); });
}

void launch_many(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format, [&](auto format) { launch_batch<LogSum<format()>>(batch, stream); });
}

void load_one(Grid grid, SoftBitFormat of_output) {
    with_format(of_output, [&](auto format) { load_job<LogSum<format()>>(grid); });
}

void load_many(SoftBitFormat of_output) {
    with_format(of_output, [](auto format) { load_batch<LogSum<format()>>(); });
}

}  // namespace

const Family log_sum_family = {launch_one, launch_many, log_sum_shape, load_one, load_many};

}  // namespace phy::gpu::detail
