#include "phy/core/cuda.hpp"
#include "pipeline/item.hpp"
#include "pipeline/scramble_cuda.hpp"

namespace phy_test {
namespace {

__global__ void scramble(std::uint64_t first, std::size_t items, const std::byte* in, std::byte* out) {
    const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (item < items) put_item(first + item, in + item * item_in, out + item * item_out);
}

}  // namespace

void scramble_on_device(std::uint64_t first, std::size_t items, const std::byte* in, std::byte* out,
                        CUstream_st* stream) {
    constexpr unsigned threads = 128;
    const auto blocks = static_cast<unsigned>((items + threads - 1) / threads);
    scramble<<<blocks, threads, 0, stream>>>(first, items, in, out);
    phy::gpu::check(cudaGetLastError());
}

}  // namespace phy_test
