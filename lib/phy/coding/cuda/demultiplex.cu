#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "phy/coding/cuda/launch.hpp"
#include "phy/cuda/device.hpp"

namespace phy::gpu::detail {
namespace {

constexpr unsigned threads = 256;
constexpr std::size_t max_rows = 65535;  ///< blocks in y

/// A thread per byte of the parts of a codeword.
__global__ void __launch_bounds__(threads) split(const __grid_constant__ DemultiplexJob job) {
    const unsigned byte = blockIdx.x * threads + threadIdx.x;
    if (byte >= job.ends[3]) return;
    const unsigned part = (byte >= job.ends[0]) + (byte >= job.ends[1]) + (byte >= job.ends[2]);
    unsigned begin = 0;
    unsigned end = job.ends[0];
    std::byte* to = job.parts[0];
#pragma unroll
    for (unsigned other = 1; other < 4; ++other) {
        if (part != other) continue;
        begin = job.ends[other - 1];
        end = job.ends[other];
        to = job.parts[other];
    }
    const std::int32_t source = job.sources[byte / job.element];
    const std::size_t from = static_cast<std::size_t>(source) * job.element + byte % job.element;
    for (std::size_t codeword = blockIdx.y; codeword < job.codewords; codeword += gridDim.y)
        to[codeword * (end - begin) + byte - begin] =
            source < 0 ? std::byte{0} : job.llr[codeword * job.codeword + from];
}

}  // namespace

void launch(const DemultiplexJob& job, cudaStream_t stream) {
    const dim3 blocks((job.ends[3] + threads - 1) / threads,
                      static_cast<unsigned>(std::min(job.codewords, max_rows)));
    split<<<blocks, threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
