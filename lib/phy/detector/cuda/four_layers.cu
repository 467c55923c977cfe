#include "phy/detector/cuda/detect.cuh"

namespace phy::gpu::detail {

void launch_four_layers(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream) {
    launch_detector<4>(job, out, stream);
}

}  // namespace phy::gpu::detail
