#include "phy/reduce/average/cuda/kernels.cuh"

namespace phy::gpu::detail {

template void start_multiply<float>(const MultiplyCall<float>&, TileSize, cudaStream_t);
template void start_multiply<double>(const MultiplyCall<double>&, TileSize, cudaStream_t);

}  // namespace phy::gpu::detail
