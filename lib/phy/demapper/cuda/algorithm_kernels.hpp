#pragma once

#include "phy/cuda/warp.hpp"
#include "phy/demapper/cuda/launch.hpp"

namespace phy::gpu::detail {

/// Which launches of an algorithm can apply signs.
enum class Fusion { never, unless_counting, always };

/// The kernels of one algorithm.
struct AlgorithmKernels {
    /// flips: the kernel applies signs, as AlgorithmKernels::fusion allows.
    void (*launch_job)(const Job& job, const Common& common, bool flips, const Device& device,
                       cudaStream_t stream);
    void (*launch_batch)(const Batch& batch, bool flips, cudaStream_t stream);
    int (*symbols_in_batch)(Constellation constellation, const Common& common);  ///< per block

    /// Load the code for every job with that constellation and format, or every batch with that format.
    void (*load_job)(Constellation constellation, SoftBitFormat format);
    void (*load_batch)(SoftBitFormat format);

    Fusion fusion;

    [[nodiscard]] bool fuses(const Common& common) const {
        return fusion == Fusion::always || (fusion == Fusion::unless_counting && common.counters == nullptr);
    }
};

// Each is defined in its own file.
extern const AlgorithmKernels closed_form_kernels;
extern const AlgorithmKernels log_sum_kernels;
extern const AlgorithmKernels table_kernels;

}  // namespace phy::gpu::detail
