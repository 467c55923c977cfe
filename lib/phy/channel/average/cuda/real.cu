#include "phy/channel/average/cuda/kernels.cuh"

namespace phy::gpu::detail {

template void start_multiply<float>(const MultiplyCall<float>&, bool, cudaStream_t);
template void start_both<float>(const MultiplyCall<float>&, const MeansCall<float>&, cudaStream_t);
template void start_multiply<double>(const MultiplyCall<double>&, bool, cudaStream_t);
template void start_both<double>(const MultiplyCall<double>&, const MeansCall<double>&, cudaStream_t);

}  // namespace phy::gpu::detail
