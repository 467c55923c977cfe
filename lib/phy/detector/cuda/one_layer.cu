#include "phy/detector/cuda/detect.cuh"

namespace phy::gpu::detail {

void launch_one_layer(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream) {
    launch_detector<1>(job, out, stream);
}

}  // namespace phy::gpu::detail
