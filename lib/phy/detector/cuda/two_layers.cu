#include "phy/detector/cuda/detect.cuh"

namespace phy::gpu::detail {

void launch_two_layers(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream) {
    launch_detector<2>(job, out, stream);
}

}  // namespace phy::gpu::detail
