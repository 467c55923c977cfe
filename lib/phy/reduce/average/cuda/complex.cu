#include "phy/reduce/average/cuda/kernels.cuh"

namespace phy::gpu::detail {

template void start_multiply<std::complex<float>>(const MultiplyCall<std::complex<float>>&, TileSize,
                                                  cudaStream_t);
template void start_multiply<std::complex<double>>(const MultiplyCall<std::complex<double>>&, TileSize,
                                                   cudaStream_t);

}  // namespace phy::gpu::detail
