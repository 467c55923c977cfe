#include "phy/demapper/cuda/direct.cuh"
#include "phy/demapper/cuda/kernel_set.cuh"

namespace phy::gpu::detail {
namespace {

template <SoftBitFormat format, CallSize size>
struct ClosedForm {
    static constexpr int min_bits = 1;
    // Floating-point formats saturate only where no receiver works.
    static constexpr bool flips = true;
    static constexpr bool by_formula = format == SoftBitFormat::int8;
    template <Constellation constellation, Formula formula>
    using LaneDemapper = Direct<constellation, format, formula, size>;
};

template <SoftBitFormat format>
using InBatch = ClosedForm<format, CallSize::batch>;

template <SoftBitFormat format>
struct OneJob {
    using Few = ClosedForm<format, CallSize::few>;
    using Many = ClosedForm<format, CallSize::many>;

    static void launch(const Job& job, const Common& common, bool flips, const Device& /*device*/,
                       cudaStream_t stream) {
        if (job.count <= few_symbols) {
            launch_job<Few>(job, common, flips, stream);
        } else {
            launch_job<Many>(job, common, flips, stream);
        }
    }

    static void load(Constellation constellation) {
        load_jobs<Few>(constellation);
        load_jobs<Many>(constellation);
    }
};

}  // namespace

const AlgorithmKernels closed_form_kernels = KernelsOf<OneJob, InBatch>::all;

}  // namespace phy::gpu::detail
