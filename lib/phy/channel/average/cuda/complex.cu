#include "phy/channel/average/cuda/kernels.cuh"

namespace phy::gpu::detail {

template void start_multiply<std::complex<float>>(const MultiplyCall<std::complex<float>>&, bool,
                                                  cudaStream_t);
template void start_both<std::complex<float>>(const MultiplyCall<std::complex<float>>&,
                                              const MeansCall<std::complex<float>>&, cudaStream_t);
template void start_multiply<std::complex<double>>(const MultiplyCall<std::complex<double>>&, bool,
                                                   cudaStream_t);
template void start_both<std::complex<double>>(const MultiplyCall<std::complex<double>>&,
                                               const MeansCall<std::complex<double>>&, cudaStream_t);

}  // namespace phy::gpu::detail
