#include "phy/demapper/cuda/direct.cuh"
#include "phy/demapper/cuda/kernel_set.cuh"

namespace phy::gpu::detail {
namespace {

template <SoftBitFormat format>
struct LogSum {
    static constexpr int min_bits = 2;
    static constexpr bool flips = true;
    static constexpr bool by_formula = false;
    template <Constellation constellation, Formula>
    using LaneDemapper = Direct<constellation, format, Formula::log_sum, CallSize::many>;
};

template <SoftBitFormat format>
struct OneJob {
    static void launch(const Job& job, const Common& common, bool flips, const Device& /*device*/,
                       cudaStream_t stream) {
        launch_job<LogSum<format>>(job, common, flips, stream);
    }

    static void load(Constellation constellation) { load_jobs<LogSum<format>>(constellation); }
};

}  // namespace

const AlgorithmKernels log_sum_kernels = KernelsOf<OneJob, LogSum>::all;

}  // namespace phy::gpu::detail
